import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import type { Account } from './postgres-account.ts';
import { postgresSurroundings } from './postgres-surroundings.ts';

/** Half a second is usual; a slow disk that has to sync 40 MB takes longer. */
const timeoutMs = 120_000;

/** The locale comes with PostgreSQL itself (code points, no ICU), so an index sorts alike on every machine. */
const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];

export type Initdb = {
  readonly initdb: string;
  readonly superuser: string;
  /** An empty folder that belongs to the account. */
  readonly cluster: string;
  readonly passwordFile: string;
  readonly account: Account | undefined;
  readonly onSpawned: () => void;
};

/** Fills the folder with a new cluster that lets nobody in without the password. Throws with what initdb said. */
export async function runInitdb(plan: Initdb): Promise<void> {
  const { initdb, superuser, cluster, passwordFile, account } = plan;
  const { dataArgument, options } = postgresSurroundings(cluster, account);
  const access = [`--username=${superuser}`, '--auth=scram-sha-256', '--pwfile=/dev/fd/3'];
  // Given open, as descriptor 3, since the account may not be able to reach the file by its path.
  const password = await open(passwordFile, 'r');
  try {
    const stdio: ['ignore', 'pipe', 'pipe', number] = ['ignore', 'pipe', 'pipe', password.fd];
    const args = ['-D', dataArgument, ...locale, ...access];
    const child = spawn(initdb, args, { ...options, stdio, timeout: timeoutMs });
    plan.onSpawned();
    await ended(child, cluster);
  } finally {
    await password.close();
  }
}

function ended(child: ReturnType<typeof spawn>, cluster: string): Promise<void> {
  let said = '';
  const listen = (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000));
  child.stdout?.on('data', listen);
  child.stderr?.on('data', listen);
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`initdb cannot be started: ${error.message}`, { cause: error })));
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`initdb could not create ${cluster} (${signal ?? `code ${code}`}): ${said.trim()}`));
    });
  });
}
