import { Connection } from '@temporalio/client';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reserveFreePort } from '../../src/run/embedded/local-ports.ts';
import { listens } from '../support/processes/listens.ts';
import {
  makeNamespace,
  makeTemporalSchema,
  temporalCluster,
  temporalPersistence,
} from '../support/servers/production-temporal.ts';
import { type ServerProcess, spawnLogged, startServerProcess } from '../support/servers/server-process.ts';

/** The path of Temporal's production server, with `temporal-sql-tool` beside it. Without it nothing here runs (.ci/run). */
export const serverPath = process.env['TEMPORAL_SERVER_PATH'] || undefined;

/** Temporal as it runs in production: each service a process of its own, which find each other through their database. */
export type TemporalServices = {
  /** The address of the frontend. */
  readonly address: string;
  readonly frontend: ServerProcess;
  readonly histories: readonly [ServerProcess, ServerProcess];
  readonly matching: ServerProcess;
  readonly worker: ServerProcess;
};

type ServiceName = 'frontend' | 'history' | 'matching' | 'worker';

/** Connections to the two databases. All processes here share those of one PostgreSQL. */
const connections: Readonly<Record<ServiceName, { default: number; visibility: number }>> = {
  frontend: { default: 8, visibility: 6 },
  history: { default: 20, visibility: 6 },
  matching: { default: 12, visibility: 2 },
  worker: { default: 4, visibility: 4 },
};

/** The names of their health checks; the worker has none. */
const healthNames: Readonly<Partial<Record<ServiceName, string>>> = {
  frontend: 'temporal.api.workflowservice.v1.WorkflowService',
  history: 'temporal.api.workflowservice.v1.HistoryService',
  matching: 'temporal.api.workflowservice.v1.MatchingService',
};

const dynamicConfiguration = `
matching.enableFairness:
  - value: true
matching.numTaskqueueReadPartitions:
  - value: 1
matching.numTaskqueueWritePartitions:
  - value: 1
`;

type Ports = { readonly grpcPort: number; readonly membershipPort: number };

export async function startTemporalServices(postgresUrl: string, folder: string): Promise<TemporalServices> {
  const program = serverPath ?? '';
  await makeTemporalSchema(program, postgresUrl);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'dynamic.yaml'), dynamicConfiguration);
  const newPorts = async (): Promise<Ports> => ({
    grpcPort: await reserveFreePort(),
    membershipPort: await reserveFreePort(),
  });
  const usual = {
    frontend: await newPorts(),
    history: await newPorts(),
    matching: await newPorts(),
    worker: await newPorts(),
  };
  const address = `127.0.0.1:${usual.frontend.grpcPort}`;
  const member = async (service: ServiceName, name: string, ports: Ports): Promise<ServerProcess> => {
    const rpc = (each: Ports) => ({ rpc: { ...each, bindOnIP: '127.0.0.1' } });
    const all: Readonly<Record<ServiceName, Ports>> = { ...usual, [service]: ports };
    const services = {
      frontend: rpc(all.frontend),
      history: rpc(all.history),
      matching: rpc(all.matching),
      worker: rpc(all.worker),
    };
    const configuration = {
      log: { stdout: true, level: 'warn' },
      persistence: temporalPersistence(postgresUrl, connections[service]),
      global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
      services,
      ...temporalCluster(address),
      dynamicConfigClient: { filepath: join(folder, 'dynamic.yaml'), pollInterval: '10s' },
    };
    await mkdir(join(folder, name));
    // JSON is YAML, too.
    await writeFile(join(folder, name, 'production.yaml'), JSON.stringify(configuration));
    const args = ['--root', folder, '--config', name, '--env', 'production', '--allow-no-auth', 'start'];
    return startServerProcess({
      name: `temporal ${name}`,
      start: () => spawnLogged(program, [...args, '--service', service], join(folder, `${name}.log`)),
      isReady: async () => {
        const health = healthNames[service];
        return health === undefined
          ? (await listens(ports.membershipPort)) === true
          : isServing(`127.0.0.1:${ports.grpcPort}`, health);
      },
    });
  };
  const [frontend, first, second, matching, worker] = await Promise.all([
    member('frontend', 'frontend', usual.frontend),
    member('history', 'history-1', usual.history),
    member('history', 'history-2', await newPorts()),
    member('matching', 'matching', usual.matching),
    member('worker', 'worker', usual.worker),
  ]);
  await makeNamespace(address);
  return { address, frontend, histories: [first, second], matching, worker };
}

async function isServing(address: string, service: string): Promise<boolean> {
  const connection = Connection.lazy({ address });
  try {
    const answer = await connection.withDeadline(Date.now() + 2_000, () => connection.healthService.check({ service }));
    const status: number = answer.status;
    // SERVING
    return status === 1;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}
