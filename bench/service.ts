import { createAccount } from '../src/credits/open-account.ts';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { scopes } from '../src/accounts/keys/scopes-dialects-and-caller.ts';
import { reserveFreePort } from '../src/run/embedded/local-ports.ts';
import { setAccountLimits } from '../src/accounts/accounts.ts';
import { createKeyUnchecked } from '../src/accounts/keys/keys.ts';
import { createDatabase, type Database } from '../src/platform/database/database.ts';
import { migrateToLatest } from '../src/run/schema/migrator.ts';
import { waitFor } from '../test/support/wait-for.ts';
import type { Bench } from './bench.ts';
import { startChild, type Child } from './child.ts';
import { benchFfmpeg } from './machine.ts';

/**
 * An address without a server, so that tasks are accepted and their workflows
 * wait.
 */
export const unreachableAddress = '127.0.0.1:9';

/**
 * The service as it runs in production: API and worker are separate processes,
 * on a database and task queues of their own.
 */
export type BenchService = {
  readonly environment: NodeJS.ProcessEnv & { readonly VIDEOGEN_TASK_QUEUE: string };
  readonly databaseUrl: string;
  readonly db: Database;
  startApi(extra?: NodeJS.ProcessEnv): Promise<Child & { readonly baseUrl: string }>;
  startWorker(script?: string): Child;
  /** Stops every process that this service has started. */
  close(): Promise<void>;
};

export async function benchService(
  bench: Bench,
  temporalAddress: string,
  extra: NodeJS.ProcessEnv = {},
): Promise<BenchService> {
  const name = `bench_${randomBytes(4).toString('hex')}`;
  const databaseUrl = await newDatabase(bench.postgresUrl, name);
  await migrateToLatest(databaseUrl);
  const db = createDatabase({ url: databaseUrl });
  const environment = {
    ...process.env,
    NODE_ENV: 'production',
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    VIDEOGEN_TASK_QUEUE: name,
    VIDEOGEN_SECRET: randomBytes(32).toString('hex'),
    VIDEOGEN_DATA: join(bench.folder, name),
    RESULT_STORE: join(bench.folder, name, 'results'),
    CALLBACK_ALLOW: '127.0.0.0/8',
    PREVIEW_FAILURES: '1',
    FFMPEG_PATH: await benchFfmpeg(),
    GENERATION_CONCURRENCY: '100',
    CREATE_RATE: 'off',
    READ_RATE: 'off',
    LOG_LEVEL: 'info',
    ...extra,
  };
  const children: Child[] = [];
  const kept = <T extends Child>(child: T): T => {
    children.push(child);
    return child;
  };
  return {
    environment,
    databaseUrl,
    db,
    startApi: async (more = {}) => {
      // A given port is one that upstreams call; otherwise any free port does.
      const port = Number(more['PORT'] ?? (await reserveFreePort()));
      const baseUrl = `http://127.0.0.1:${port}`;
      const child = kept(startChild('../src/run/main/api.js', { ...environment, PORT: String(port), ...more }));
      await waitFor(`the API at ${baseUrl}`, () => isThere(baseUrl));
      return { ...child, baseUrl };
    },
    startWorker: (script = '../src/run/main/worker.js') => kept(startChild(script, environment)),
    close: async () => {
      await Promise.all(children.map((child) => child.stop()));
      await db.close();
    },
  };
}

export async function newDatabase(serverUrl: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function isThere(baseUrl: string): Promise<true | undefined> {
  const response = await fetch(`${baseUrl}/healthz`).catch(() => undefined);
  return response?.ok === true ? true : undefined;
}

export type BenchAccount = { readonly accountId: string; readonly key: string };

/** Creates accounts whose credits and limits exceed any load. */
export async function benchAccounts(db: Database, count: number): Promise<readonly BenchAccount[]> {
  const accounts: BenchAccount[] = [];
  for (let index = 0; index < count; index += 1) {
    const accountId = await createAccount(db, { name: `bench ${index}`, credits: 1_000_000_000 });
    await setAccountLimits(db, accountId, { maxUnfinishedTasks: 1_000_000, createRate: undefined });
    const created = await createKeyUnchecked(db, { accountId, name: 'bench', scopes });
    if (created === undefined) throw new Error('the account is gone');
    accounts.push({ accountId, key: created.key });
  }
  return accounts;
}
