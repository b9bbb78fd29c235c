import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Catalogue } from '../../../src/catalogue/file/catalogue-schema-and-types.ts';
import type { Model } from '../../../src/catalogue/models/model-type-and-name-lookup.ts';
import type { Scope } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { createTaskRequestParser } from '../../../src/tasks/accept/parse-task-request.ts';
import { defaultBrand } from './defaults/default-brand.ts';
import { type AppNeeds, createApp } from '../../../src/api/app.ts';
import { noModerator } from './defaults/no-moderator.ts';
import type { SignUpPolicy } from '../../../src/credits/sign-up/request-sign-up.ts';
import { noRequestLog } from '../../../src/library/request-log/request-log-buffer.ts';
import type { TaskToStop } from '../../../src/tasks/end/cancel-task.ts';
import type { TakeOrderDeps } from '../../../src/api/tasks/create-task-routes.ts';
import { createReadTaskRecorder } from '../../../src/tasks/list/record-tasks-seen.ts';
import { createTaskAcceptor } from '../../../src/tasks/accept/accept-in-batches.ts';
import { createKeyTouches } from '../../../src/accounts/keys/key-touches.ts';
import {
  createBadKeyLimiter,
  createRateLimiter,
  createFixedRateLimiters,
} from '../../../src/api/core/limits/rate-limits.ts';
import { type HttpServer, type ServerLimits, startHttpServer } from '../../../src/api/core/server/http-server.ts';
import { createTaskWaiters } from '../../../src/tasks/task-waiters.ts';
import { createSecretBox } from '../../../src/platform/secrets/secret-box.ts';
import { createStoreUpload } from '../../../src/media/references/store-upload.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import type { Operation } from '../../../src/api/core/endpoint-spec.ts';
import { createTestDatabase, type TestDatabase } from '../database/test-database.ts';
import { documentedOnly } from '../documents/documented-answers.ts';
import { createFolderStore } from '../folder-store.ts';
import { type Answer, createHttpClient, isObject, type Send } from './http-client.ts';
import { recordOutcome } from '../documents/produced-refusals.ts';

export const closedSignUp: SignUpPolicy = {
  mode: 'off',
  domains: [],
  credits: 0,
  secrets: [],
  hourlyLimit: 1,
  hourlyLimitPerAddress: 1,
};

export type StartedTask = Parameters<AppNeeds['startTask']>[0];
export type Redelivery = Parameters<AppNeeds['redeliver']>[0];
export type LogLine = Readonly<Record<string, unknown>>;

/** The whole HTTP layer on a real socket and a real database; only the engine is played. */
export type HttpService = {
  readonly database: TestDatabase;
  readonly deps: AppNeeds;
  readonly server: HttpServer;
  readonly url: string;
  readonly started: readonly StartedTask[];
  readonly redelivered: readonly Redelivery[];
  /** The tasks whose pause was ended. */
  readonly retried: readonly string[];
  readonly stopped: readonly TaskToStop[];
  readonly log: readonly LogLine[];
  readonly send: Send;
  newAccount(credits: number, scopes?: readonly Scope[]): Promise<{ accountId: string; key: string }>;
  /** Posts a create request; `body` may be any text. */
  create(key: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  recordInfo(key: string, taskId: string): Promise<Answer>;
  /** Waits for running requests for `drainMs` at most, one second by default. */
  close(drainMs?: number): Promise<void>;
};

/** What an endpoint under test needs, and what accepts its orders. */
export type HttpServiceOptions = Partial<AppNeeds> & { limits?: Partial<ServerLimits>; database?: TestDatabase };

export async function startHttpService({
  limits,
  database,
  ...overrides
}: HttpServiceOptions = {}): Promise<HttpService> {
  const ownDatabase = database ?? (await createTestDatabase());
  const { db } = ownDatabase;
  const folder = await mkdtemp(join(tmpdir(), 'videogen-http-'));
  const started: StartedTask[] = [];
  const redelivered: Redelivery[] = [];
  const retried: string[] = [];
  const stopped: TaskToStop[] = [];
  const log: LogLine[] = [];
  const builtIn = builtInCatalogue();
  const { catalogue = () => builtIn } = overrides;
  const publicUrl = 'http://media.test';
  const resultStore = createFolderStore(folder, { publicUrl });
  const uploads = { db, resultStore, retentionMs: 86_400_000, workFolder: join(folder, 'work') };
  const orders: TakeOrderDeps = {
    db,
    log: pino({ level: 'debug' }, { write: (text: string) => note(log, parseLine(text)) }),
    publicUrl,
    catalogue,
    parseTaskRequest: (body) => parserOf(catalogue())(body),
    isSold: () => true,
    diskProblem: () => undefined,
    events: { emit: () => {} },
    moderator: noModerator,
    acceptCreate: createTaskAcceptor(overrides.db ?? db),
    refundUncertain: () => undefined,
    createRate: undefined,
    startTask: (task) => started.push(task),
    ...overrides,
  };
  const deps: AppNeeds = {
    ...createFixedRateLimiters(),
    ...orders,
    events: { emit: () => {} },
    resultStore,
    retentionMs: 14 * 86_400_000,
    refuseCallbackUrl: allow,
    stopTask: (task) => stopped.push(task),
    retryTask: ({ taskId }) => retried.push(taskId),
    redeliver: (delivery) => redelivered.push(delivery),
    storeUpload: createStoreUpload(uploads),
    testProvider: () => Promise.resolve({ outcome: 'ok', status: 404, latencyMs: 12 }),
    testCallback: () => Promise.resolve(204),
    box: createSecretBox('s'.repeat(32)),
    console: {
      // Known once the server listens.
      get publicUrl() {
        return `http://127.0.0.1:${server.port}`;
      },
      passwordSignIn: true,
    },
    keyTouches: createKeyTouches(db, 5),
    taskWaiters: createTaskWaiters(db, { pauseMs: 20 }),
    signIns: createRateLimiter({ quota: 1_000, windowMs: 10_000 }),
    isTrustedProxy: (address) => address === '127.0.0.1',
    progressOf: () => Promise.resolve(0),
    catalogueState: () => ({ path: undefined, version: 'built-in', loadedAt: 0, refused: undefined }),
    brand: defaultBrand,
    payments: undefined,
    seenTasks: createReadTaskRecorder(orders.db, orders.log),
    requestLog: noRequestLog,
    searchesPrompts: true,
    promptRetentionMs: undefined,
    redirectsContent: false,
    reads: undefined,
    refusedCreates: undefined,
    badKeys: createBadKeyLimiter(undefined),
    signUp: closedSignUp,
    mails: undefined,
    metrics: undefined,
    isTraced: false,
    consoleMediaOrigins: [],
    temporalUiUrl: undefined,
    now: Date.now,
    readiness: () => Promise.resolve([]),
    ...overrides,
  };
  const server = await startHttpServer({
    app: createApp(deps),
    host: '127.0.0.1',
    port: 0,
    log: deps.log,
    ...(limits !== undefined && { limits }),
  });
  const url = `http://127.0.0.1:${server.port}`;
  const send = documentedOnly(createHttpClient(url));
  return {
    database: ownDatabase,
    deps,
    server,
    url,
    started,
    redelivered,
    retried,
    stopped,
    log,
    send,
    newAccount: (credits, scopes) => newAccount(ownDatabase.db, credits, scopes),
    create: (key, body, headers) =>
      send('POST', '/api/v1/jobs/createTask', {
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    recordInfo: (key, taskId) =>
      send('GET', `/api/v1/jobs/recordInfo?taskId=${taskId}`, { headers: { authorization: `Bearer ${key}` } }),
    close: async (drainMs = 1_000) => {
      deps.taskWaiters.close();
      await server.close(drainMs);
      await deps.keyTouches.drain();
      if (database === undefined) await ownDatabase.close();
      await rm(folder, { recursive: true });
    },
  };
}

type Parser = ReturnType<typeof createTaskRequestParser>;

/** By catalogue, as in `createLiveRequestParser`: a parser is made of many schemas. */
const parsers = new WeakMap<Catalogue, Parser>();

function parserOf(offer: Catalogue): Parser {
  const known = parsers.get(offer);
  if (known !== undefined) return known;
  const made = createTaskRequestParser({ offer, refuseMediaUrl: allow, refuseCallbackUrl: allow });
  parsers.set(offer, made);
  return made;
}

function note(log: LogLine[], line: LogLine): void {
  log.push(line);
  recordOutcome(line);
}

function parseLine(line: string): LogLine {
  const value: unknown = JSON.parse(line);
  if (!isObject(value)) throw new Error(`not a line of a log: ${line}`);
  return value;
}

function allow(): undefined {
  return undefined;
}

const allScopes: readonly Scope[] = ['tasks:write', 'tasks:read', 'credits:read'];

async function newAccount(db: Database, credits: number, scopes = allScopes) {
  const accountId = await createAccount(db, { name: 'test', credits });
  const created = await createKeyUnchecked(db, { accountId, name: 'test', scopes });
  if (created === undefined) throw new Error('the account is there');
  return { accountId, key: created.key };
}

/** The built-in catalogue with these models instead of its own. */
export function catalogueOf(models: readonly Model[]): Catalogue {
  const catalogue = builtInCatalogue();
  const [template] = catalogue.models.values();
  if (template === undefined) throw new Error('the built-in catalogue has models');
  return { ...catalogue, models: new Map(models.map((model) => [model.model, { ...template, ...model }])) };
}

/** The smallest request that is accepted; 165 credits. */
export const plainRequest = { model: 'videogen-2.0-fast', input: { prompt: 'A lighthouse in the fog' } } as const;

export function isRequired(query: Operation['query'], name: string): boolean {
  return query?.safeParse({}).error?.issues.some(({ path }) => path[0] === name) === true;
}
