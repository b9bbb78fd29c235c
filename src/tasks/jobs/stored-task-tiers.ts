import { hash } from 'node:crypto';
import type { CatalogueModel } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { Database } from '../../platform/database/database.ts';
import { maybeOne, noRows } from '../../platform/database/declare-statements.ts';

// The tiers of a waiting task's model are stored, because the model may leave the catalogue. Many tasks share one row.

type Tiers = CatalogueModel['tiers'];

const maxBytes = 65_536;

const saveTiers = noRows<[taskId: string, hash: string, text: string]>({
  name: 'save-tiers',
  text: `
with config as (insert into provider_configs (hash, config) values ($2, $3) on conflict do nothing)
update tasks set tiers_hash = $2 where id = $1 and state in ('waiting', 'queuing') and tiers_hash is distinct from $2`,
});

/** Saves the model's current tiers for the task, unless its generation has begun or they are too long. */
export async function saveTaskTiers(db: Database, taskId: string, tiers: Tiers): Promise<void> {
  const text = JSON.stringify(tiers);
  if (Buffer.byteLength(text) <= maxBytes) await saveTiers(db, taskId, hash('sha256', text), text);
}

export const readTaskTiers = maybeOne<{ readonly tiers: Tiers }, [taskId: string]>({
  name: 'find-tiers',
  text: `select config as tiers from tasks join provider_configs on hash = tiers_hash where id = $1`,
});
