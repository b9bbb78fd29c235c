import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../src/run/config/config.ts';
import { reserveFreePort } from '../../src/run/embedded/local-ports.ts';
import { type PostgresServer, startPostgres } from '../../src/run/embedded/postgres/postgres-server.ts';
import { findOrDownloadFfmpeg } from '../../src/run/embedded/find-or-download-ffmpeg.ts';
import { findOrDownloadTemporalCli } from '../../src/run/embedded/temporal/temporal-cli.ts';
import { startTemporal, type TemporalServer } from '../../src/run/embedded/temporal/temporal-server.ts';
import {
  settingsWithNothingEmbedded,
  type CompleteSettings,
} from '../../src/run/config/complete-settings-and-derived-values.ts';
import { migrateToLatest } from '../../src/run/schema/migrator.ts';
import { startTcpProxy, type TcpProxy } from '../support/proxies/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { type SupervisedProcess, keepRunning } from './supervised-process.ts';
import { catalogueOf, writeKindFiles } from '../fakes/provider-kinds.ts';
import { type KindUpstreams, startKindUpstreams } from './load/kind-upstreams.ts';
import { type Disks, mountDisks } from './faults/full-disks.ts';
import { makeFilms } from './faults/short-results.ts';
import { packages, type Shop, startShop } from './load/stripe-shop.ts';

/** The whole service as it runs in production: servers, API and workers in processes of their own, which restart when they end. */
export type Stack = {
  readonly settings: CompleteSettings;
  readonly environment: NodeJS.ProcessEnv;
  readonly apis: readonly (SupervisedProcess & { readonly baseUrl: string })[];
  readonly workers: readonly SupervisedProcess[];
  readonly postgres: PostgresServer;
  readonly temporal: TemporalServer;
  /** Between the service and Temporal, to cut them off from each other; the test itself bypasses it. */
  readonly temporalProxy: TcpProxy;
  readonly kinds: KindUpstreams;
  readonly shop: Shop;
  readonly disks: Disks;
  /** Drains and stops everything except the disks; answers the names of those that did not end as they should. */
  stop(): Promise<readonly string[]>;
};

const [apiCount, workerCount] = [2, 2];

/** A model whose deadline is short, for tasks that hang until then; the other one outlives the loss of its worker. */
export const hangingModel = 'videogen-2.0';
export const patientModel = 'videogen-2.0-fast';
export const creditsPerSecond = { [hangingModel]: 41, [patientModel]: 33 } as const;
export type ModelName = keyof typeof creditsPerSecond;
const previewModels = [modelOf(hangingModel, 12), modelOf(patientModel, 600)];

function modelOf(model: ModelName, deadlineSeconds: number) {
  const prices = [{ creditsPerSecond: creditsPerSecond[model] }];
  return { model, title: model, prices, deadlineSeconds, providers: ['preview'] };
}

export async function startStack(folder: string, say: (message: string) => void): Promise<Stack> {
  const { cacheFolder, path: searchPath, temporalCliPath, ffmpegPath } = readConfig();
  const explicitPath = temporalCliPath === undefined ? {} : { explicitPath: temporalCliPath };
  const cliPath = await findOrDownloadTemporalCli({ cacheFolder, searchPath, log: say, ...explicitPath });
  const ffmpeg = await findOrDownloadFfmpeg({ explicitPath: ffmpegPath, cacheFolder, log: say });
  const disks = await mountDisks(folder, say);
  const [postgres, temporal] = await Promise.all([
    startPostgres({ folder: join(folder, 'postgres'), log: say }),
    startTemporal({ cliPath, folder: join(folder, 'temporal'), namespace: 'default', log: say }),
  ]);
  await migrateToLatest(postgres.url);
  const temporalProxy = await startTcpProxy(temporal.address);
  const films = await makeFilms(ffmpeg, folder);
  const [kinds, shop] = [await startKindUpstreams(films), await startShop()];
  const environment = {
    ...(await environmentOf(folder, { postgres, temporal: temporalProxy, kinds, shop })),
    FFMPEG_PATH: ffmpeg,
  };
  const { apis, workers } = await startProcesses(folder, environment);
  let stopped: Promise<readonly string[]> | undefined;
  const stop = () => (stopped ??= stopAll());
  const stopAll = async () => {
    const kept = [...apis, ...workers];
    const ends = await Promise.all(kept.map((each) => each.stop()));
    await Promise.all([postgres.stop(), temporal.stop(), temporalProxy.close(), kinds.close(), shop.close()]);
    return kept.filter((_, index) => ends[index] !== true).map(({ name }) => name);
  };
  try {
    await Promise.all(apis.map(({ baseUrl }) => waitFor(`the API at ${baseUrl}`, () => isReady(baseUrl))));
  } catch (error) {
    await stop();
    throw error;
  }
  const settings = settingsWithNothingEmbedded(readConfig(environment));
  return { settings, environment, apis, workers, postgres, temporal, temporalProxy, kinds, shop, disks, stop };
}

async function environmentOf(
  folder: string,
  { postgres, temporal, kinds, shop }: Pick<Stack, 'postgres' | 'kinds' | 'shop'> & { readonly temporal: TcpProxy },
): Promise<NodeJS.ProcessEnv> {
  const modelsFile = join(folder, 'models.json');
  const { providers, models } = catalogueOf(kinds.placed);
  await writeKindFiles(folder);
  await writeFile(modelsFile, JSON.stringify({ packages, providers, models: [...previewModels, ...models] }));
  return {
    ...process.env,
    ...shop.environment,
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    VIDEOGEN_DATA: join(folder, 'data'),
    VIDEOGEN_SECRET: randomBytes(32).toString('hex'),
    VIDEOGEN_MODELS: modelsFile,
    RESULT_STORE: join(folder, 'results'),
    // Every program that the service starts has it, so that those which are left behind are found.
    TMPDIR: folder,
    CALLBACK_ALLOW: '127.0.0.0/8',
    IMAGE_ALLOW: '127.0.0.0/8',
    PREVIEW_FAILURES: '1',
    GENERATION_CONCURRENCY: '8',
    // Limits on rates are not under test here.
    CREATE_RATE: 'off',
    READ_RATE: 'off',
    REFUSED_CREATE_RATE: 'off',
    BAD_KEY_RATE: 'off',
    LOG_LEVEL: 'info',
  };
}

async function startProcesses(folder: string, environment: NodeJS.ProcessEnv) {
  const program = (role: 'api' | 'worker') => fileURLToPath(new URL(`../../src/run/main/${role}.js`, import.meta.url));
  const logFolder = join(folder, 'logs');
  await mkdir(logFolder, { recursive: true });
  const logOf = (name: string) => join(logFolder, `${name}.log`);
  const workers = Array.from({ length: workerCount }, (_, index) =>
    keepRunning(`worker ${index + 1}`, program('worker'), environment, logOf(`worker-${index + 1}`)),
  );
  const apis = [];
  for (let index = 1; index <= apiCount; index += 1) {
    const port = String(await reserveFreePort());
    const kept = keepRunning(`API ${index}`, program('api'), { ...environment, PORT: port }, logOf(`api-${index}`));
    apis.push({ ...kept, baseUrl: `http://127.0.0.1:${port}` });
  }
  return { apis, workers };
}

async function isReady(baseUrl: string): Promise<true | undefined> {
  const response = await fetch(`${baseUrl}/healthz`).catch(() => undefined);
  return response?.ok === true ? true : undefined;
}
