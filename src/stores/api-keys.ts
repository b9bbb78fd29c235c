import { v7 as uuidv7 } from 'uuid';
import type { Caller, Scope } from '../domain/api-key.ts';
import { apiKeyHint, hashApiKey, looksLikeApiKey, newApiKey } from './api-key-format.ts';
import type { Database } from './database.ts';

/** A key as its owner may see it; the secret itself is not kept. Times are Unix milliseconds. */
export type ApiKey = {
  readonly keyId: string;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly Scope[];
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
};

const insertKey = {
  name: 'create-api-key',
  text: `
insert into api_keys (id, account_id, name, hash, hint, scopes, expires_at)
select $1, id, $3, $4, $5, $6, to_timestamp($7::float8 / 1000) from accounts where id = $2
returning id`,
};

/** Makes a key and answers it, for the only time; undefined when there is no such account. */
export async function createApiKey(
  db: Database,
  { accountId, name, scopes, expiresAt }: NewKey,
): Promise<{ readonly keyId: string; readonly key: string } | undefined> {
  const keyId = uuidv7();
  const key = newApiKey();
  const values = [keyId, accountId, name, hashApiKey(key), apiKeyHint(key), scopes, expiresAt];
  const created = await db.run(insertKey, values);
  return created.length === 0 ? undefined : { keyId, key };
}

/** The key with this hash ($1) and whose it is, if it is good today. */
export const callerQuery = `
select api_keys.id as key_id, account_id as caller_id, scopes, suspended_at is not null as suspended,
  last_used_at is null or last_used_at < now() - interval '1 minute' as use_is_stale
from api_keys join accounts on accounts.id = account_id
where hash = $1 and revoked_at is null and (expires_at is null or expires_at > now())`;

const selectCaller = { name: 'find-caller', text: callerQuery };

export type CallerRow = {
  key_id: string;
  caller_id: string;
  scopes: Scope[];
  suspended: boolean;
  use_is_stale: boolean;
};

/** A caller, and whether the use of its key was last written down more than a minute ago. */
export type FoundCaller = Caller & { readonly useIsStale: boolean };

/** Whose key this is; undefined for one that is malformed, unknown, revoked or expired, without telling which. */
export async function findCaller(db: Database, key: string): Promise<FoundCaller | undefined> {
  if (!looksLikeApiKey(key)) return undefined;
  const [row] = await db.run<CallerRow>(selectCaller, [hashApiKey(key)]);
  return row === undefined ? undefined : callerFromRow(row);
}

export function callerFromRow(row: CallerRow): FoundCaller {
  const { key_id: keyId, caller_id: accountId, scopes, suspended, use_is_stale: useIsStale } = row;
  return { keyId, accountId, scopes, suspended, useIsStale };
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
export const keyColumns = 'id, name, hint, scopes, created_at, expires_at, last_used_at, revoked_at';

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
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  };
}

const revoke = {
  name: 'revoke-api-key',
  text: `update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1 returning id`,
};

/** Revokes a key from the next request on; answers false when there is no such key. */
export async function revokeApiKey(db: Database, keyId: string): Promise<boolean> {
  return (await db.run(revoke, [keyId])).length > 0;
}
