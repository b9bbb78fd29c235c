import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from './wait-for.ts';

/** `kill -9` of a service in embedded mode, its PostgreSQL and its Temporal, at the same moment; returns when all are gone. */
export async function killEverything(service: ChildProcess | undefined, dataFolder: string): Promise<void> {
  const postgres = await firstNumber(join(dataFolder, 'postgres', 'cluster', 'postmaster.pid'));
  const temporal = await firstNumber(join(dataFolder, 'temporal', 'pid'));
  const exited = service === undefined ? undefined : once(service, 'exit');
  service?.kill('SIGKILL');
  process.kill(postgres, 'SIGKILL');
  process.kill(temporal, 'SIGKILL');
  await exited;
  await waitFor('the end of the servers', () => ([postgres, temporal].some(isAlive) ? undefined : true));
}

async function firstNumber(file: string): Promise<number> {
  const number = Number.parseInt(await readFile(file, 'utf8'), 10);
  if (!Number.isInteger(number)) throw new Error(`${file} holds no process id`);
  return number;
}

/** A killed process that nobody has reaped yet is a zombie: dead, but still signalled without an error. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
