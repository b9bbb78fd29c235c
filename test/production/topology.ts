import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../src/run/config/config.ts';
import { reserveFreePort } from '../../src/run/embedded/local-ports.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import type { UpstreamBooks } from '../fakes/upstream-books.ts';
import { startReadinessProxy } from '../support/proxies/readiness-proxy.ts';
import { type S3Server, skipsWithoutS3, startS3Server } from '../support/servers/s3-server.ts';
import { createTestEnvironment, type TestEnvironment } from '../support/service/test-service.ts';
import { type Running, spawnEntryPoint } from '../support/processes/run-videogen.ts';
import { waitFor } from '../support/wait-for.ts';
import { startHouseUpstream } from './timed-own-upstream.ts';
import { isServing, type ServerProcess, startServerProcess } from '../support/servers/server-process.ts';
import { startPostgresMember } from './postgres-member.ts';
import { serverPath, startTemporalServices, type TemporalServices } from './temporal-services.ts';

export const skipsWithoutPrograms =
  serverPath === undefined
    ? "TEMPORAL_SERVER_PATH names no production server of Temporal's, so the real topology was not tried"
    : skipsWithoutS3;

/** An installation as in docs/operations/upgrade.md, on one machine. */
export type Topology = {
  /** The load balancer's, which is `PUBLIC_URL`. */
  readonly baseUrl: string;
  readonly world: TestEnvironment;
  readonly apis: readonly [ServerProcess, ServerProcess];
  readonly apiUrls: readonly [string, string];
  readonly workers: readonly [ServerProcess, ServerProcess, ServerProcess];
  readonly temporal: TemporalServices;
  readonly postgres: ServerProcess;
  readonly store: ServerProcess;
  readonly s3: S3Server;
  /** The books of the upstream of `remote-model`. */
  readonly upstream: UpstreamBooks;
  /** True while the load balancer sends requests to this API. */
  sends(api: number): boolean;
  /** Waits until it does. */
  waitForBalancer(api: number): Promise<void>;
  /** Ends everything; throws when the books are not right. */
  close(): Promise<void>;
};

export async function startTopology(extra: Environment = {}): Promise<Topology> {
  const closing: Closing = [];
  const close = async () => {
    for (const end of closing.toReversed()) await end();
  };
  try {
    return await start(extra, closing, close);
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

type Closing = (() => Promise<unknown>)[];

async function start(extra: Environment, closing: Closing, close: () => Promise<void>): Promise<Topology> {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-production-'));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const postgres = await startPostgresMember(join(folder, 'postgres'));
  closing.push(() => postgres.close());
  const s3 = await startS3Server();
  closing.push(() => s3.close());
  const upstream = await startHouseUpstream(folder);
  closing.push(() => upstream.close());
  const temporal = await startTemporalServices(postgres.url, join(folder, 'temporal'));
  const services = [temporal.worker, temporal.frontend, temporal.matching, ...temporal.histories];
  closing.push(() => killAll(services));
  const ports = [await reserveFreePort(), await reserveFreePort()] as const;
  const apiUrls = [`http://127.0.0.1:${ports[0]}`, `http://127.0.0.1:${ports[1]}`] as const;
  const proxy = await startReadinessProxy(apiUrls);
  closing.push(() => proxy.close());
  // From here on everything is as another test has it, but on these servers.
  process.env['VIDEOGEN_TEST_POSTGRES'] = postgres.url;
  process.env['VIDEOGEN_TEST_TEMPORAL'] = temporal.address;
  const world = await createTestEnvironment({
    ...s3.environment,
    RESULT_STORE: `s3://${s3.bucket}/videos`,
    PUBLIC_URL: proxy.baseUrl,
    VIDEOGEN_MODELS: upstream.catalogue,
    DATABASE_POOL_SIZE: '8',
    SHUTDOWN_DELAY: '2s',
    LOG_LEVEL: 'info',
    ...extra,
  });
  closing.push(() => closeWorld(world));
  const { apis, workers } = await startProcesses(world, ports);
  closing.push(() => killAll([...apis, ...workers]));
  const sends = (api: number) => proxy.sends(apiUrls[api] ?? '');
  const waitForBalancer = async (api: number) => {
    await waitFor(`the load balancer to see API ${api + 1}`, () => (sends(api) ? true : undefined));
  };
  await waitForBalancer(0);
  await waitForBalancer(1);
  const store: ServerProcess = {
    name: 'versitygw',
    pid: () => 0,
    stop: () => s3.stop(),
    kill: () => s3.kill(),
    start: () => s3.start(),
    restart: () => s3.restart(),
  };
  const own = { baseUrl: proxy.baseUrl, world, apis, apiUrls, workers, sends, waitForBalancer };
  return { ...own, temporal, postgres: postgres.member, store, s3, upstream: upstream.books, close };
}

async function closeWorld(world: TestEnvironment): Promise<void> {
  const violations = await auditLedger(world.database.db);
  await world.close();
  if (violations.length > 0) throw new Error(`the books: ${JSON.stringify(violations)}`);
}

async function killAll(members: readonly ServerProcess[]): Promise<void> {
  await Promise.all(members.map((member) => member.kill()));
}

async function startProcesses(world: TestEnvironment, ports: readonly [number, number]) {
  const worker = (index: number) => startProcess('worker', index, world, undefined);
  const [one, other, ...workers] = await Promise.all([
    startProcess('api', 0, world, ports[0]),
    startProcess('api', 1, world, ports[1]),
    worker(0),
    worker(1),
    worker(2),
  ]);
  return { apis: [one, other], workers } as const;
}

function startProcess(
  role: 'api' | 'worker',
  index: number,
  { environment }: TestEnvironment,
  port: number | undefined,
): Promise<ServerProcess> {
  let running: Running;
  const own = role === 'api' ? { PORT: String(port), LOG_LEVEL: 'warn' } : {};
  return startServerProcess({
    name: `${role} ${index + 1}`,
    start: () => (running = spawnEntryPoint(role, { ...environment, ...own })).child,
    isReady: async () => {
      if (role === 'worker') return running.stdout().includes('worker is running');
      return isServing(`http://127.0.0.1:${port}/readyz`);
    },
  });
}
