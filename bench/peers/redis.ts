import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { freePort } from '../../src/embedded/persisted-port.ts';
import { waitFor } from '../../test/support/wait-for.ts';

export type Redis = { readonly port: number; stop(): Promise<void> };

/**
 * Returns `REDIS_SERVER_PATH`, or `redis-server` on the PATH; undefined if
 * neither exists.
 */
export async function findRedis(): Promise<string | undefined> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const places = [process.env['REDIS_SERVER_PATH'] ?? '', ...folders.map((folder) => join(folder, 'redis-server'))];
  for (const place of places.filter(Boolean)) if (await isThere(place)) return place;
  return undefined;
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Starts Redis on a folder. Every write reaches the disk before it is
 * acknowledged, as with PostgreSQL.
 */
export async function startRedis(path: string, folder: string): Promise<Redis> {
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const args = [
    '--bind',
    '127.0.0.1',
    '--port',
    String(port),
    '--dir',
    folder,
    '--appendonly',
    'yes',
    '--appendfsync',
    'always',
  ];
  const child = spawn(path, args, { stdio: 'ignore' });
  await once(child, 'spawn');
  await waitFor('Redis', () => hasLoaded(port));
  return {
    port,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Redis responds to PING with an error until it has loaded its data. */
function hasLoaded(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.on('error', () => resolve(undefined));
    socket.on('data', (answer) => {
      socket.destroy();
      resolve(answer.toString('latin1').startsWith('+PONG') ? true : undefined);
    });
  });
}
