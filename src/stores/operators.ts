import { v7 as uuidv7 } from 'uuid';
import type { Operator } from '../domain/operator.ts';
import { apiKeyHint, hashApiKey, looksLikeApiKey, newApiKey } from './key-format.ts';
import { type Database, readRow, readRows } from './database.ts';

const insertOperator = {
  name: 'create-operator',
  text: `
insert into operators (id, name, hash, hint, expires_at) values ($1, $2, $3, $4, to_timestamp($5::float8 / 1000))`,
};

/** Makes an operator with a key, which is answered for the only time. */
export async function createOperator(
  db: Database,
  { name, expiresAt }: { readonly name: string; readonly expiresAt?: number | undefined },
): Promise<{ readonly operatorId: string; readonly key: string }> {
  const operatorId = uuidv7();
  const key = newApiKey('operator');
  await db.run(insertOperator, [operatorId, name, hashApiKey(key), apiKeyHint(key), expiresAt]);
  return { operatorId, key };
}

// The use is recorded in the same statement, at most once a minute: operators are few, and call seldom.
const selectOperator = {
  name: 'find-operator',
  text: `
with found as (
  select id, name from operators
  where hash = $1 and revoked_at is null and (expires_at is null or expires_at > now())
), used as (
  update operators set last_used_at = now() from found
  where operators.id = found.id and (last_used_at is null or last_used_at < now() - interval '1 minute')
)
select id as "operatorId", name from found`,
};

/** The operator of a key; undefined for one that is malformed, unknown, revoked or expired, without saying which. */
export async function findOperator(db: Database, key: string): Promise<Operator | undefined> {
  if (!looksLikeApiKey(key, 'operator')) return undefined;
  return readRow<Operator>(db, selectOperator, [hashApiKey(key)]);
}

/** An operator as others may see it. Times are Unix milliseconds. */
export type ListedOperator = Operator & {
  readonly hint: string;
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
  readonly lastUsedAt: number | undefined;
  readonly revokedAt: number | undefined;
};

const selectOperators = {
  name: 'list-operators',
  text: `
select id as "operatorId", name, hint, created_at as "createdAt", expires_at as "expiresAt", last_used_at as "lastUsedAt",
  revoked_at as "revokedAt"
from operators
order by revoked_at is null and (expires_at is null or expires_at > now()) desc, id desc limit 1000`,
};

/** Active operators first and then the newest, revoked ones included; at most 1,000. */
export async function listOperators(db: Database): Promise<readonly ListedOperator[]> {
  return readRows<ListedOperator>(db, selectOperators);
}

const revoke = {
  name: 'revoke-operator',
  text: `
with found as (select id, revoked_at is null as is_new from operators where id = $1 for update)
update operators set revoked_at = coalesce(revoked_at, now()) from found where operators.id = found.id
returning revoked_at as "revokedAt", found.is_new as changed`,
};

type Revocation = { readonly revokedAt: number; readonly changed: boolean };

/** Revokes an operator from the next request on; undefined when there is none. `changed` is false for one revoked before. */
export async function revokeOperator(db: Database, operatorId: string): Promise<Revocation | undefined> {
  const [revoked] = await db.run<Revocation>(revoke, [operatorId]);
  return revoked;
}
