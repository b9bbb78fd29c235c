import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { reserveFreePort } from '../src/run/embedded/local-ports.ts';
import {
  makeNamespace,
  makeTemporalSchema,
  temporalCluster,
  temporalPersistence,
} from '../test/support/servers/production-temporal.ts';

export type TemporalAddress = { readonly address: string; readonly pid: number; stop(): Promise<void> };

/**
 * Each of the four services has pools of its own, and all of them share 100
 * connections with ours.
 */
const connections = { default: 12, visibility: 4 };

/**
 * Starts Temporal's production server with its data in PostgreSQL. The bench
 * does not download it: `serverPath` names the program, and
 * `temporal-sql-tool`, which creates the schema, must be in the same folder.
 */
export async function startProductionTemporal({
  serverPath,
  postgresUrl,
  folder,
}: {
  serverPath: string;
  postgresUrl: string;
  folder: string;
}): Promise<TemporalAddress> {
  await makeTemporalSchema(serverPath, postgresUrl);
  await mkdir(join(folder, 'config'), { recursive: true });
  const port = await reserveFreePort();
  await writeFile(join(folder, 'dynamic.yaml'), 'matching.enableFairness:\n  - value: true\n');
  await writeFile(join(folder, 'config', 'bench.yaml'), JSON.stringify(await configuration(postgresUrl, folder, port)));
  const log = openSync(join(folder, 'server.log'), 'a');
  const args = ['--root', folder, '--config', 'config', '--env', 'bench', '--allow-no-auth', 'start'];
  const child = spawn(serverPath, args, { stdio: ['ignore', log, log] });
  await once(child, 'spawn');
  const address = `127.0.0.1:${port}`;
  await makeNamespace(address);
  return {
    address,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

/** Returns the configuration, which is written as JSON: JSON is valid YAML. */
async function configuration(postgresUrl: string, folder: string, port: number): Promise<unknown> {
  const service = async (grpcPort?: number) => ({
    rpc: {
      grpcPort: grpcPort ?? (await reserveFreePort()),
      membershipPort: await reserveFreePort(),
      bindOnIP: '127.0.0.1',
    },
  });
  return {
    log: { stdout: true, level: 'warn' },
    persistence: temporalPersistence(postgresUrl, connections),
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: {
      frontend: await service(port),
      history: await service(),
      matching: await service(),
      worker: await service(),
    },
    ...temporalCluster(`127.0.0.1:${port}`),
    dynamicConfigClient: { filepath: join(folder, 'dynamic.yaml'), pollInterval: '10s' },
  };
}
