import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Account } from './postgres-account.ts';
import { postgresSurroundings } from './postgres-surroundings.ts';
import { openServerLog } from '../server-log.ts';

export type PostmasterLaunch = {
  readonly folder: string;
  readonly cluster: string;
  readonly program: string;
  readonly account: Account | undefined;
  /** Called each time the server has been started, long before it answers. */
  readonly onSpawned: () => void;
};

/** In a session of its own, so that a Ctrl-C in our terminal does not reach it: we end it when we are done with it. */
export async function spawnPostmaster(plan: PostmasterLaunch, port: number): Promise<ChildProcess> {
  const { dataArgument, options } = postgresSurroundings(plan.cluster, plan.account);
  const log = await openServerLog(join(plan.folder, 'server.log'));
  try {
    const settings = serverSettings.flatMap((setting) => ['-c', setting]);
    const stdio: ['ignore', number, number] = ['ignore', log.fd, log.fd];
    const child = spawn(plan.program, ['-D', dataArgument, '-p', String(port), ...settings], {
      ...options,
      stdio,
      detached: true,
    });
    await once(child, 'spawn');
    child.unref();
    plan.onSpawned();
    return child;
  } finally {
    await log.close();
  }
}

/** On the command line, so that a cluster of any age gets today's values. Commits reach the disk: fsync and synchronous_commit stay on. */
const serverSettings = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=100',
  'shared_buffers=128MB',
  'password_encryption=scram-sha-256',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_checkpoints=off',
  'cluster_name=videogen',
];
