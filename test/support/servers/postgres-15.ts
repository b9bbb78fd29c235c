import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { postgresSystemUser } from '../../../src/run/embedded/postgres/postgres-binaries.ts';

const run = promisify(execFile);

/** PostgreSQL 15 with all of its programs, the oldest that is supported: where Debian's package puts it. */
export const postgresPrograms = process.env['VIDEOGEN_TEST_POSTGRES_15'] ?? '/usr/lib/postgresql/15/bin';
export const skipWithoutPostgres15 = existsSync(join(postgresPrograms, 'pg_dump'))
  ? false
  : 'PostgreSQL 15 is not on this machine (VIDEOGEN_TEST_POSTGRES_15: the folder of its programs)';

/** A server of that release; answers the address of its superuser's database. */
export async function startPostgres15(): Promise<{ readonly url: string; close(): Promise<void> }> {
  // Beside the folder of the tests, which only this account may enter.
  const folder = await mkdtemp('/tmp/videogen-postgres-15-');
  const account = await postgresSystemUser(folder);
  const cluster = join(folder, 'cluster');
  const password = randomBytes(12).toString('hex');
  await writeFile(join(folder, 'password'), password);
  await chmod(folder, 0o700);
  if (account !== undefined)
    for (const path of [folder, join(folder, 'password')]) await chown(path, account.uid, account.gid);
  const port = await reserveFreePort();
  const options = { ...account, cwd: folder, env: {} };
  const at = (name: string) => join(postgresPrograms, name);
  const initial = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${join(folder, 'password')}`, '--no-sync'];
  await run(at('initdb'), [`--pgdata=${cluster}`, ...initial], options);
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`;
  const log = join(folder, 'log');
  await run(at('pg_ctl'), [`--pgdata=${cluster}`, `--log=${log}`, '--wait', `--options=${settings}`, 'start'], options);
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    close: async () => {
      await run(at('pg_ctl'), [`--pgdata=${cluster}`, '--mode=immediate', 'stop'], options);
      await rm(folder, { recursive: true });
    },
  };
}
