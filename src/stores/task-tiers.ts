import { hash } from 'node:crypto';
import type { CatalogueModel } from '../domain/catalogue/models.ts';
import { type Database, readRow } from './database.ts';

// A task that waits for an upstream keeps the ways to generate it, for the case that its model leaves the catalogue meanwhile.
// Many tasks share one text, so `tasks.providers` holds its hash, in the place of the names of providers.

type Tiers = CatalogueModel['tiers'];

const prefix = 'sha256:';
/** More does not fit into its row; such a task goes without. */
const maxBytes = 65_536;

const keep = {
  name: 'keep-tiers',
  text: `
with known as (insert into provider_configs (hash, config) values ($2, $3) on conflict do nothing)
update tasks set providers = json_build_array('${prefix}' || $2)
where id = $1 and state in ('waiting', 'queuing') and providers->>0 is distinct from '${prefix}' || $2`,
};

/** The model's tiers of now are those of the task, for as long as its generation has not begun. */
export async function keepTiers(db: Database, taskId: string, tiers: Tiers): Promise<void> {
  const text = JSON.stringify(tiers);
  if (Buffer.byteLength(text) <= maxBytes) await db.run(keep, [taskId, hash('sha256', text), text]);
}

const find = {
  name: 'find-tiers',
  text: `select config as tiers from provider_configs where hash = $1`,
};

/** The tiers that a task keeps; undefined for one that has names of providers. */
export async function readTiers(db: Database, providers: readonly string[]): Promise<Tiers | undefined> {
  const [first = ''] = providers;
  if (!first.startsWith(prefix)) return undefined;
  return (await readRow<{ tiers: Tiers }>(db, find, [first.slice(prefix.length)]))?.tiers;
}
