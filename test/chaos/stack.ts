import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../src/config.ts';
import { keptPort } from '../../src/embedded/kept-port.ts';
import { type Postgres, startPostgres } from '../../src/embedded/postgres.ts';
import { findTemporalCli } from '../../src/embedded/temporal-cli.ts';
import { startTemporal, type TemporalServer } from '../../src/embedded/temporal-server.ts';
import { externalSettings } from '../../src/roles/external-settings.ts';
import type { Settings } from '../../src/roles/settings.ts';
import { migrateToLatest } from '../../src/stores/migrator.ts';
import { waitFor } from '../support/wait-for.ts';
import { type KeptProcess, keepRunning } from './kept-process.ts';

/** The whole service as it runs in production: servers, API and workers in processes of their own, kept alive by us. */
export type Stack = {
  readonly settings: Settings;
  readonly environment: NodeJS.ProcessEnv;
  readonly apis: readonly (KeptProcess & { readonly baseUrl: string })[];
  readonly workers: readonly KeptProcess[];
  readonly postgres: Postgres;
  readonly temporal: TemporalServer;
  /** Drains and stops everything; answers the names of those that did not end as they should. */
  stop(): Promise<readonly string[]>;
};

export type StackSize = { readonly apis: number; readonly workers: number };

/** A model whose deadline is short, for tasks that hang until then; the other one outlives the loss of its worker. */
export const hangingModel = 'videogen-2.0';
export const patientModel = 'videogen-2.0-fast';
export const creditsPerSecond = { [hangingModel]: 41, [patientModel]: 33 } as const;
const models = {
  models: [
    { model: hangingModel, title: 'Short', rates: [{ creditsPerSecond: 41 }], deadlineSeconds: 12 },
    { model: patientModel, title: 'Patient', rates: [{ creditsPerSecond: 33 }], deadlineSeconds: 600 },
  ],
};

export async function startStack(folder: string, size: StackSize, say: (message: string) => void): Promise<Stack> {
  const { cacheFolder, path: searchPath, temporalCliPath } = readConfig();
  const explicitPath = temporalCliPath === undefined ? {} : { explicitPath: temporalCliPath };
  const cliPath = await findTemporalCli({ cacheFolder, searchPath, log: say, ...explicitPath });
  const searchAttributes = { AccountId: 'Keyword', Model: 'Keyword', TaskState: 'Keyword' };
  const [postgres, temporal] = await Promise.all([
    startPostgres({ folder: join(folder, 'postgres'), log: say }),
    startTemporal({ cliPath, folder: join(folder, 'temporal'), namespace: 'default', searchAttributes, log: say }),
  ]);
  await migrateToLatest(postgres.url);
  const environment = await environmentOf(folder, postgres, temporal);
  const processes = startProcesses(folder, environment, size);
  const { apis, workers } = await processes;
  await Promise.all(apis.map(({ baseUrl }) => waitFor(`the API at ${baseUrl}`, () => isReady(baseUrl), 60_000)));
  const stop = async () => {
    const kept = [...apis, ...workers];
    const ends = await Promise.all(kept.map((each) => each.stop()));
    await Promise.all([postgres.stop(), temporal.stop()]);
    return kept.filter((_, index) => ends[index] !== true).map(({ name }) => name);
  };
  return { settings: externalSettings(readConfig(environment)), environment, apis, workers, postgres, temporal, stop };
}

async function environmentOf(folder: string, postgres: Postgres, temporal: TemporalServer): Promise<NodeJS.ProcessEnv> {
  const modelsFile = join(folder, 'models.json');
  await writeFile(modelsFile, JSON.stringify(models));
  return {
    ...process.env,
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    VIDEOGEN_SECRET: randomBytes(32).toString('hex'),
    VIDEOGEN_MODELS: modelsFile,
    RESULT_STORE: join(folder, 'results'),
    CALLBACK_ALLOW: '127.0.0.0/8',
    IMAGE_ALLOW: '127.0.0.0/8',
    PREVIEW_FAULTS: '1',
    GENERATION_CONCURRENCY: '8',
    // The load is not what is tested here; a limit that exists is set out of its way.
    CREATE_RATE: 'off',
    READ_RATE: 'off',
    BAD_KEY_RATE: 'off',
    LOG_LEVEL: 'info',
  };
}

async function startProcesses(folder: string, environment: NodeJS.ProcessEnv, size: StackSize) {
  const program = (name: string) => fileURLToPath(new URL(`../../src/${name}.js`, import.meta.url));
  const logOf = (name: string) => join(folder, `${name}.log`);
  const workers = Array.from({ length: size.workers }, (_, index) =>
    keepRunning(`worker ${index + 1}`, program('worker'), environment, logOf(`worker-${index + 1}`)),
  );
  const apis = [];
  for (let index = 1; index <= size.apis; index += 1) {
    const port = String(await keptPort(undefined, undefined));
    const kept = keepRunning(`API ${index}`, program('api'), { ...environment, PORT: port }, logOf(`api-${index}`));
    apis.push({ ...kept, baseUrl: `http://127.0.0.1:${port}` });
  }
  return { apis, workers };
}

async function isReady(baseUrl: string): Promise<true | undefined> {
  const response = await fetch(`${baseUrl}/healthz`).catch(() => undefined);
  return response?.ok === true ? true : undefined;
}
