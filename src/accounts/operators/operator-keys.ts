import { v7 as uuidv7 } from 'uuid';
import type { OperatorKeyOwner } from './actors-and-actions.ts';
import { apiKeyHint, hashApiKey, isWellFormedKey, generateApiKey } from '../keys/key-format.ts';
import type { Database } from '../../platform/database/database.ts';
import { activeKeySql } from '../keys/active-key-sql.ts';
import { sharedKeyColumnsSql, type RevokedKey } from '../keys/keys.ts';
import type { ApiKey } from '../keys/key-record.ts';
import { many, maybeOne, noRows } from '../../platform/database/declare-statements.ts';

const insertOperator = noRows({
  name: 'create-operator',
  text: `
insert into operators (id, name, hash, hint, expires_at) values ($1, $2, $3, $4, to_timestamp($5::float8 / 1000))`,
});

/** Creates an operator and returns the key, which is not stored. */
export async function createOperator(
  db: Database,
  { name, expiresAt }: { readonly name: string; readonly expiresAt?: number | undefined },
): Promise<{ readonly operatorId: string; readonly key: string }> {
  const operatorId = uuidv7();
  const key = generateApiKey('operator');
  await insertOperator(db, operatorId, name, hashApiKey(key), apiKeyHint(key), expiresAt);
  return { operatorId, key };
}

const findByHash = maybeOne<OperatorKeyOwner, [hash: Buffer]>({
  name: 'find-operator',
  text: `
with found as (
  select id, name from operators
  where hash = $1 and ${activeKeySql}
), used as (
  update operators set last_used_at = now() from found
  where operators.id = found.id and (last_used_at is null or last_used_at < now() - interval '1 minute')
)
select id as "operatorId", name from found`,
});

/** Undefined for a malformed, unknown, revoked or expired key, without the reason. */
export async function findAndTouchOperatorByKey(db: Database, key: string): Promise<OperatorKeyOwner | undefined> {
  return isWellFormedKey(key, 'operator') ? findByHash(db, hashApiKey(key)) : undefined;
}

export type ListedOperator = OperatorKeyOwner &
  Pick<ApiKey, 'hint' | 'createdAt' | 'expiresAt' | 'lastUsedAt' | 'revokedAt'>;

/** Active operators first, then the newest; at most 1,000. */
export const listOperators = many<ListedOperator>({
  name: 'list-operators',
  text: `
select id as "operatorId", ${sharedKeyColumnsSql} from operators order by ${activeKeySql} desc, id desc limit 1000`,
});

/** Undefined if the operator does not exist. `changed` is false if it was revoked before. */
export const revokeOperator = maybeOne<Pick<RevokedKey, 'revokedAt' | 'changed'>, [operatorId: string]>({
  name: 'revoke-operator',
  text: `
with found as (select id, revoked_at is null as changed from operators where id = $1 for update)
update operators set revoked_at = coalesce(revoked_at, now()) from found where operators.id = found.id
returning revoked_at as "revokedAt", changed`,
});
