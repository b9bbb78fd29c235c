import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Environment, readConfig } from '../../../src/run/config/config.ts';
import { scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { createLog, type Log } from '../../../src/platform/log/log.ts';
import { startApi } from '../../../src/run/main/start-api.ts';
import {
  settingsWithNothingEmbedded,
  type CompleteSettings,
} from '../../../src/run/config/complete-settings-and-derived-values.ts';
import { type DrainablePart } from '../../../src/run/main/run-until-signal.ts';
import { startWorker } from '../../../src/run/main/start-worker.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { createTestDatabase, type TestDatabase } from '../database/test-database.ts';
import { temporalAddress } from '../servers/server-addresses.ts';

export type TestEnvironment = {
  readonly environment: Environment & { readonly DATABASE_URL: string };
  readonly settings: CompleteSettings;
  readonly database: TestDatabase;
  close(): Promise<void>;
};

/**
 * A database, a folder and task queues of the test's own on the shared servers; no part is running yet. `dump`: see `createTestDatabase`.
 */
export async function createTestEnvironment(extra: Environment = {}, dump?: string): Promise<TestEnvironment> {
  const database = await createTestDatabase(dump);
  const folder = await mkdtemp(join(tmpdir(), 'videogen-test-'));
  const port = await reserveFreePort();
  const environment = {
    ...process.env,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporalAddress(),
    VIDEOGEN_TASK_QUEUE: `test-${randomBytes(6).toString('hex')}`,
    VIDEOGEN_SECRET: 'the secret of the tests, long enough',
    VIDEOGEN_DATA: folder,
    RESULT_STORE: join(folder, 'results'),
    PORT: String(port),
    CALLBACK_ALLOW: '127.0.0.0/8,::1,localhost',
    IMAGE_ALLOW: '127.0.0.0/8,::1,localhost',
    PREVIEW_FAILURES: '1',
    LOG_LEVEL: 'silent',
    CREATE_RATE: 'off',
    READ_RATE: 'off',
    REFUSED_CREATE_RATE: 'off',
    BAD_KEY_RATE: 'off',
    ...extra,
  };
  const settings = settingsWithNothingEmbedded(readConfig(environment));
  return {
    environment,
    settings,
    database,
    close: async () => {
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type TestService = TestEnvironment & { readonly baseUrl: string };

/** The workers alone, in this process. */
export function startTestWorker(extra: Environment = {}): Promise<TestEnvironment> {
  return startParts(extra, [startWorkers]);
}

/** API and workers in this process, over the real servers. */
export async function startTestService(extra: Environment = {}): Promise<TestService> {
  const service = await startParts(extra, [startWorkers, startApi]);
  return { ...service, baseUrl: service.settings.publicUrl };
}

type StartPart = (settings: CompleteSettings, log: Log) => Promise<DrainablePart>;

const startWorkers: StartPart = async (settings, log) => {
  const part = await startWorker(settings, log, (error) => {
    throw error;
  });
  await part.running;
  return part;
};

async function startParts(extra: Environment, starts: readonly StartPart[]): Promise<TestEnvironment> {
  const environment = await createTestEnvironment(extra);
  const log = createLog({ level: environment.settings.logLevel });
  const parts: DrainablePart[] = [];
  for (const start of starts) parts.push(await start(environment.settings, log));
  return {
    ...environment,
    close: async () => {
      for (const part of parts.toReversed()) await part.close();
      await environment.close();
    },
  };
}

export type TestAccount = { readonly accountId: string; readonly key: string };

/** An account with credits and a key with every scope. */
export async function createTestAccount({ db }: Pick<TestDatabase, 'db'>, credits = 10_000): Promise<TestAccount> {
  const accountId = await createAccount(db, { name: 'test', credits });
  const created = await createKeyUnchecked(db, { accountId, name: 'test', scopes });
  if (created === undefined) throw new Error('the account is gone');
  return { accountId, key: created.key };
}
