import type { Account } from './postgres-account.ts';

export type PostgresSurroundings = {
  /** What to give to `-D`. */
  readonly dataArgument: string;
  /** For `spawn`; every variable a shell may hold is left out, as some of them (`PGDATA`, `PGOPTIONS`) would interfere. */
  readonly options: {
    readonly cwd: string;
    readonly env: Record<string, string>;
    readonly uid?: number;
    readonly gid?: number;
  };
};

/**
 * How to run a program of PostgreSQL on a cluster folder. Another account often cannot walk down to the folder, because one
 * above it (such as /root) is closed; but a process that is put into the folder before it changes its account may use it,
 * and on Linux `/proc/self/cwd` names it without any walking.
 */
export function postgresSurroundings(folder: string, account: Account | undefined): PostgresSurroundings {
  const inside = account !== undefined && process.platform === 'linux';
  return {
    dataArgument: inside ? '/proc/self/cwd' : folder,
    options: { cwd: folder, env: { LC_ALL: 'C', TZ: 'UTC' }, ...account },
  };
}
