import { v7 as uuidv7 } from 'uuid';
import type { Dialect, Scope } from '../domain/api-key.ts';
import type { Actor } from '../domain/operator.ts';
import { findAccount, lockAccount } from './accounts.ts';
import type { Database } from './database.ts';
import { apiKeyHint, hashApiKey, newApiKey } from './key-format.ts';
import { recordAction } from './operator-actions.ts';

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

/** Makes a key, however many the account has, and answers it for the only time; undefined when there is no such account. */
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

/** The columns a key is shown by. */
const keyColumns = 'id, name, hint, scopes, dialect, created_at, expires_at, last_used_at, revoked_at';

const selectKeys = {
  name: 'list-api-keys',
  text: `
select ${keyColumns} from api_keys where account_id = $1
order by revoked_at is null and (expires_at is null or expires_at > now()) desc, created_at desc, id desc limit 1000`,
};

type KeyRow = {
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

function keyFromRow(row: KeyRow): ApiKey {
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

/** Active keys of an account at most, those in the overlap of a rotation included. */
export const maxActiveKeys = 100;

/** A new key with its secret, which is shown this once. */
export type MadeKey = { readonly kind: 'made'; readonly key: string; readonly shown: ApiKey };
export type TooManyKeys = { readonly kind: 'too_many_keys' };

/** Makes a key for an account that exists, unless it has too many. */
export async function createAccountKey(db: Database, wanted: NewKey): Promise<MadeKey | TooManyKeys> {
  let outcome: MadeKey | TooManyKeys = { kind: 'too_many_keys' };
  await db.transaction(async (run) => {
    await lockAccount({ run }, wanted.accountId);
    outcome = await makeKey(run, wanted);
  });
  return outcome;
}

const insertAccountKey = {
  name: 'create-account-key',
  text: `
insert into api_keys (id, account_id, name, hash, hint, scopes, expires_at, dialect)
select $1, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000), $9
where $8 > (select count(*) from api_keys
  where account_id = $2 and revoked_at is null and (expires_at is null or expires_at > now()))
returning ${keyColumns}`,
};

/** The account's row is locked, so that two concurrent calls cannot both take the last place. */
async function makeKey(run: Database['run'], wanted: NewKey): Promise<MadeKey | TooManyKeys> {
  const { accountId, name, scopes, expiresAt, dialect = 'native' } = wanted;
  const key = newApiKey();
  const shown = [uuidv7(), accountId, name, hashApiKey(key), apiKeyHint(key), scopes, expiresAt];
  const values = [...shown, maxActiveKeys, dialect];
  const [row] = await run<KeyRow>(insertAccountKey, values);
  return row === undefined ? { kind: 'too_many_keys' } : { kind: 'made', key, shown: keyFromRow(row) };
}

export type Rotation = {
  readonly accountId: string;
  readonly keyId: string;
  /** The scopes of the caller; a key with more of them is not rotated, for the caller would gain them with its successor. */
  readonly within: readonly Scope[];
  /** How long the old key lives on, unless it expires before. */
  readonly overlapSeconds: number;
};

export type RotationOutcome =
  | (MadeKey & { readonly oldExpiresAt: number })
  | TooManyKeys
  | { readonly kind: 'key_not_found' }
  | { readonly kind: 'key_not_active' }
  | { readonly kind: 'scope_missing'; readonly scope: Scope };

/** Makes a successor with a key's name, scopes, dialect and length of life; the key then lives on for the overlap. */
export async function rotateAccountKey(db: Database, rotation: Rotation): Promise<RotationOutcome> {
  let outcome: RotationOutcome = { kind: 'key_not_found' };
  await db.transaction(async (run) => {
    await lockAccount({ run }, rotation.accountId);
    outcome = await rotate(run, rotation);
  });
  return outcome;
}

const selectOld = {
  name: 'find-key-to-rotate',
  text: `
select name, scopes, dialect, (extract(epoch from now() + (expires_at - created_at)) * 1000)::bigint as next_expires_at,
  revoked_at is null and (expires_at is null or expires_at > now()) as is_active
from api_keys where id = $1 and account_id = $2`,
};

const letExpire = {
  name: 'let-key-expire',
  text: `
update api_keys set expires_at = least(expires_at, now() + $2 * interval '1 second') where id = $1 returning expires_at`,
};

async function rotate(
  run: Database['run'],
  { accountId, keyId, within, overlapSeconds }: Rotation,
): Promise<RotationOutcome> {
  type OldRow = {
    name: string;
    scopes: Scope[];
    dialect: Dialect;
    next_expires_at: number | null;
    is_active: boolean;
  };
  const [old] = await run<OldRow>(selectOld, [keyId, accountId]);
  if (old === undefined) return { kind: 'key_not_found' };
  if (!old.is_active) return { kind: 'key_not_active' };
  const missing = old.scopes.find((scope) => !within.includes(scope));
  if (missing !== undefined) return { kind: 'scope_missing', scope: missing };
  const { name, scopes, dialect, next_expires_at: expiresAt } = old;
  const made = await makeKey(run, { accountId, name, scopes, dialect, expiresAt: expiresAt ?? undefined });
  if (made.kind !== 'made') return made;
  const [ending] = await run<{ expires_at: number }>(letExpire, [keyId, overlapSeconds]);
  if (ending === undefined) throw new Error(`key ${keyId} is gone`);
  return { ...made, oldExpiresAt: ending.expires_at };
}

const revokeOfAccount = {
  name: 'revoke-account-key',
  text: `
update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1 and account_id = $2 returning revoked_at`,
};

/** Revokes one of the account's keys from the next request on and answers since when; undefined when it has no such key. */
export async function revokeAccountKey(db: Database, accountId: string, keyId: string): Promise<number | undefined> {
  const [row] = await db.run<{ revoked_at: number }>(revokeOfAccount, [keyId, accountId]);
  return row?.revoked_at;
}

/** Makes a key for an account, with any scopes; undefined when there is no such account. */
export function createKeyAs(db: Database, actor: Actor, wanted: NewKey): Promise<MadeKey | TooManyKeys | undefined> {
  return recordAction<MadeKey | TooManyKeys | undefined>(db, actor, async (transaction) => {
    const { accountId } = wanted;
    if ((await findAccount(transaction, accountId)) === undefined) return { answer: undefined };
    const answer = await createAccountKey(transaction, wanted);
    if (answer.kind !== 'made') return { answer };
    const { keyId, name, scopes, dialect, expiresAt = null } = answer.shown;
    const details = { name, scopes, dialect, expiresAt };
    return { answer, done: { action: 'keys.create', accountId, keyId, details } };
  });
}

/** Revokes a key of any account from the next request on, and answers since when; undefined when there is no such key. */
export function revokeKeyAs(db: Database, actor: Actor, keyId: string): Promise<number | undefined> {
  return recordAction(db, actor, async (transaction) => {
    const revoked = await revokeApiKey(transaction, keyId);
    if (revoked?.changed !== true) return { answer: revoked?.revokedAt };
    const { accountId, name, hint, revokedAt } = revoked;
    return { answer: revokedAt, done: { action: 'keys.revoke', accountId, keyId, details: { name, hint } } };
  });
}
