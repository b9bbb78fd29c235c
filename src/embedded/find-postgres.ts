import { join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { postgresAnswer, postgresUrl } from './postgres/postgres-answer.ts';
import { clusterFolderOf, readPassword } from './postgres/postgres-cluster.ts';
import { databaseName } from './postgres.ts';
import { findPostmaster } from './postgres/postmaster.ts';

/** Where the embedded PostgreSQL keeps its files; commands beside the service find it there. */
export function postgresFolder({ dataFolder }: Pick<Config, 'dataFolder'>): string {
  return join(dataFolder, 'postgres');
}

/**
 * The address of the embedded PostgreSQL that runs on this folder (the one given to `startPostgres`), password included;
 * undefined when none answers there. For commands that run beside the service: it starts nothing and needs no lock.
 * Throws a sentence when the folder belongs to another account.
 */
export async function findPostgres(folder: string): Promise<string | undefined> {
  const password = await readPassword(folder);
  const found = await findPostmaster(clusterFolderOf(resolve(folder)));
  if (password === undefined || found === undefined) return undefined;
  const answer = await postgresAnswer(found.port, password);
  return answer === 'ready' ? postgresUrl(found.port, password, databaseName) : undefined;
}
