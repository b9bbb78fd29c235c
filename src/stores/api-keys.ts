import { v7 as uuidv7 } from 'uuid';
import type { Scope } from '../domain/api-key.ts';
import type { Dialect } from '../domain/dialect.ts';
import { apiKeyHint, hashApiKey, newApiKey } from './api-key-format.ts';
import type { Database } from './database.ts';

/** A key as its owner may see it; the secret itself is not kept. Times are Unix milliseconds. */
export type ApiKey = {
  readonly keyId: string;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly Scope[];
  readonly dialect: Dialect;
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
  readonly lastUsedAt: number | undefined;
  readonly revokedAt: number | undefined;
};

export type NewKey = {
  readonly accountId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: number | undefined;
  /** Native without it. */
  readonly dialect?: Dialect | undefined;
};

const insertKey = {
  name: 'create-api-key',
  text: `
insert into api_keys (id, account_id, name, hash, hint, scopes, expires_at, dialect)
select $1, id, $3, $4, $5, $6, to_timestamp($7::float8 / 1000), $8 from accounts where id = $2
returning id`,
};

/** Makes a key and answers it, for the only time; undefined when there is no such account. */
export async function createApiKey(
  db: Pick<Database, 'run'>,
  { accountId, name, scopes, expiresAt, dialect = 'native' }: NewKey,
): Promise<{ readonly keyId: string; readonly key: string } | undefined> {
  const keyId = uuidv7();
  const key = newApiKey();
  const values = [keyId, accountId, name, hashApiKey(key), apiKeyHint(key), scopes, expiresAt, dialect];
  const created = await db.run(insertKey, values);
  return created.length === 0 ? undefined : { keyId, key };
}

const noteUses = {
  name: 'note-key-uses',
  text: `
update api_keys set last_used_at = now()
where id = any($1::uuid[]) and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
};

/** Writes down that these keys were used, at most once a minute each; the caller bounds how many they are. */
export async function noteKeyUses(db: Database, keyIds: readonly string[]): Promise<void> {
  await db.run(noteUses, [keyIds]);
}

/** The columns a key is shown by. */
export const keyColumns = 'id, name, hint, scopes, dialect, created_at, expires_at, last_used_at, revoked_at';

const selectKeys = {
  name: 'list-api-keys',
  text: `
select ${keyColumns} from api_keys where account_id = $1
order by revoked_at is null and (expires_at is null or expires_at > now()) desc, created_at desc, id desc limit 1000`,
};

export type KeyRow = {
  id: string;
  name: string;
  hint: string;
  scopes: Scope[];
  dialect: Dialect;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
};

/** The account's keys, active ones first and then newest first, revoked ones included; at most 1,000. */
export async function listApiKeys(db: Database, accountId: string): Promise<readonly ApiKey[]> {
  const rows = await db.run<KeyRow>(selectKeys, [accountId]);
  return rows.map(keyFromRow);
}

export function keyFromRow(row: KeyRow): ApiKey {
  return {
    keyId: row.id,
    name: row.name,
    hint: row.hint,
    scopes: row.scopes,
    dialect: row.dialect,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  };
}

const revoke = {
  name: 'revoke-api-key',
  text: `
with found as (select id, revoked_at is null as is_new from api_keys where id = $1 for update)
update api_keys set revoked_at = coalesce(revoked_at, now()) from found where api_keys.id = found.id
returning account_id, name, hint, revoked_at, is_new`,
};

/** A revoked key. `changed` is false when it had been revoked before. */
export type RevokedKey = Pick<ApiKey, 'name' | 'hint'> & {
  readonly accountId: string;
  readonly revokedAt: number;
  readonly changed: boolean;
};

/** Revokes a key of any account from the next request on; undefined when there is no such key. */
export async function revokeApiKey(db: Database, keyId: string): Promise<RevokedKey | undefined> {
  type Row = Pick<KeyRow, 'name' | 'hint'> & { account_id: string; revoked_at: number; is_new: boolean };
  const [row] = await db.run<Row>(revoke, [keyId]);
  if (row === undefined) return undefined;
  const { account_id: accountId, name, hint, revoked_at: revokedAt, is_new: changed } = row;
  return { accountId, name, hint, revokedAt, changed };
}
