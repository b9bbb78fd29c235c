import { v7 as uuidv7 } from 'uuid';
import type { Scope } from '../domain/api-key.ts';
import type { Dialect } from '../domain/dialect.ts';
import { apiKeyHint, hashApiKey, newApiKey } from './api-key-format.ts';
import { type ApiKey, keyColumns, keyFromRow, type KeyRow } from './api-keys.ts';
import type { Database } from './database.ts';

// Keys that an account manages by itself, or an operator for it. The command line uses `createApiKey`, which knows no bounds.

/** Active keys of an account at most, those in the overlap of a rotation included. */
export const maxActiveKeys = 100;

/** A new key with its secret, which is shown this once. */
export type MadeKey = { readonly kind: 'made'; readonly key: string; readonly shown: ApiKey };
export type TooManyKeys = { readonly kind: 'too_many_keys' };

export type WantedKey = {
  readonly accountId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: number | undefined;
  /** Native without it. */
  readonly dialect?: Dialect | undefined;
};

type Run = Parameters<Parameters<Database['transaction']>[0]>[0];

/** Makes a key for an account that exists, unless it has too many. */
export async function createAccountKey(db: Database, wanted: WantedKey): Promise<MadeKey | TooManyKeys> {
  let outcome: MadeKey | TooManyKeys = { kind: 'too_many_keys' };
  await db.transaction(async (run) => {
    await run(lockAccount, [wanted.accountId]);
    outcome = await makeKey(run, wanted);
  });
  return outcome;
}

const lockAccount = {
  name: 'lock-account-for-its-keys',
  text: 'select id from accounts where id = $1 for no key update',
};

const insertKey = {
  name: 'create-account-key',
  text: `
insert into api_keys (id, account_id, name, hash, hint, scopes, expires_at, dialect)
select $1, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000), $9
where $8 > (select count(*) from api_keys
  where account_id = $2 and revoked_at is null and (expires_at is null or expires_at > now()))
returning ${keyColumns}`,
};

/** The account's row is locked, so that two at once cannot both take the last place. */
async function makeKey(run: Run, wanted: WantedKey): Promise<MadeKey | TooManyKeys> {
  const { accountId, name, scopes, expiresAt, dialect = 'native' } = wanted;
  const key = newApiKey();
  const shown = [uuidv7(), accountId, name, hashApiKey(key), apiKeyHint(key), scopes, expiresAt];
  const values = [...shown, maxActiveKeys, dialect];
  const [row] = await run<KeyRow>(insertKey, values);
  return row === undefined ? { kind: 'too_many_keys' } : { kind: 'made', key, shown: keyFromRow(row) };
}

export type Rotation = {
  readonly accountId: string;
  readonly keyId: string;
  /** The scopes of whoever rotates; a key with more of them is not rotated, for its successor would be a gift. */
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
    await run(lockAccount, [rotation.accountId]);
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

async function rotate(run: Run, { accountId, keyId, within, overlapSeconds }: Rotation): Promise<RotationOutcome> {
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

const revoke = {
  name: 'revoke-account-key',
  text: `
update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1 and account_id = $2 returning revoked_at`,
};

/** Revokes one of the account's keys from the next request on and answers since when; undefined when it has no such key. */
export async function revokeAccountKey(db: Database, accountId: string, keyId: string): Promise<number | undefined> {
  const [row] = await db.run<{ revoked_at: number }>(revoke, [keyId, accountId]);
  return row?.revoked_at;
}
