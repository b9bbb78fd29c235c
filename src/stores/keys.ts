import { v7 as uuidv7 } from 'uuid';
import type { Dialect, Scope } from '../domain/api-key.ts';
import type { Actor } from '../domain/operator.ts';
import { lockOpenAccount } from './accounts.ts';
import { type Database, readRow } from './database.ts';
import { apiKeyHint, hashApiKey, newApiKey } from './key-format.ts';
import { recordAction } from './operator-actions.ts';
import { many, maybeOne, one } from './statement.ts';

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

export type NewKey = Pick<ApiKey, 'name' | 'scopes'> & {
  readonly accountId: string;
  readonly expiresAt?: number | undefined;
  /** Native without it. */
  readonly dialect?: Dialect | undefined;
};

/** The columns that clients' and operators' keys share, as the fields of an `ApiKey`. */
export const keyColumns = `name, hint, created_at as "createdAt", expires_at as "expiresAt", last_used_at as "lastUsedAt",
  revoked_at as "revokedAt"`;
const apiKeyColumns = `id as "keyId", scopes, dialect, ${keyColumns}`;

/** SQL: neither revoked nor expired. */
export const isActive = 'revoked_at is null and (expires_at is null or expires_at > now())';

const insertKey = {
  name: 'create-api-key',
  text: `
insert into api_keys (id, account_id, name, hash, hint, scopes, expires_at, dialect)
select $1, id, $3, $4, $5, $6, to_timestamp($7::float8 / 1000), $8 from accounts
where id = $2 and ($9::int is null or $9 > (select count(*) from api_keys where account_id = $2 and ${isActive}))
returning ${apiKeyColumns}`,
};

/** A new key with its secret, which is shown this once. */
export type MadeKey = { readonly kind: 'made'; readonly key: string; readonly apiKey: ApiKey };
export type TooManyKeys = { readonly kind: 'too_many_keys' };

/** Undefined when there is no such account, or when it has `maxActive` keys. */
async function insert(db: Pick<Database, 'run'>, wanted: NewKey, maxActive?: number): Promise<MadeKey | undefined> {
  const { accountId, name, scopes, expiresAt, dialect = 'native' } = wanted;
  const key = newApiKey();
  const values = [uuidv7(), accountId, name, hashApiKey(key), apiKeyHint(key), scopes, expiresAt, dialect, maxActive];
  const apiKey = await readRow<ApiKey>(db, insertKey, values);
  return apiKey === undefined ? undefined : { kind: 'made', key, apiKey };
}

/**
 * Makes a key, however many the account has, and answers it for the only time; undefined when there is no such account. Whether that
 * is closed is the caller's to ask.
 */
export async function createApiKey(
  db: Pick<Database, 'run'>,
  wanted: NewKey,
): Promise<{ readonly keyId: string; readonly key: string } | undefined> {
  const made = await insert(db, wanted);
  return made && { keyId: made.apiKey.keyId, key: made.key };
}

/** The account's keys, active ones first and then newest first, revoked ones included; at most 1,000. */
export const listApiKeys = many<ApiKey, [accountId: string]>({
  name: 'list-api-keys',
  text: `
select ${apiKeyColumns} from api_keys where account_id = $1 order by ${isActive} desc, created_at desc, id desc limit 1000`,
});

/** A page of all keys, for an export. */
export const listApiKeysAfter = many<ApiKey, [accountId: string, after: string | undefined, limit: number]>({
  name: 'list-api-keys-after',
  text: `
select ${apiKeyColumns} from api_keys
where account_id = $1 and ($2::uuid is null or id > $2) order by id limit $3`,
});

/** A revoked key. `changed` is false when it had been revoked before. */
export type RevokedKey = Pick<NewKey, 'accountId'> &
  Pick<ApiKey, 'name' | 'hint'> & { readonly revokedAt: number; readonly changed: boolean };

/** Revokes a key, of this account or of any, from the next request on; undefined when there is no such key. */
export const revokeApiKey = maybeOne<RevokedKey, [keyId: string, accountId?: string]>({
  name: 'revoke-api-key',
  text: `
with found as (
  select id, revoked_at is null as changed from api_keys where id = $1 and ($2::uuid is null or account_id = $2) for update
)
update api_keys set revoked_at = coalesce(revoked_at, now()) from found where api_keys.id = found.id
returning account_id as "accountId", name, hint, revoked_at as "revokedAt", changed`,
  values: (keyId, accountId) => [keyId, accountId],
});

/** Active keys of an account at most, those in the overlap of a rotation included. */
export const maxActiveKeys = 100;

/** Makes a key for an account that exists, unless it has too many. Throws `AccountClosed`. */
export function createAccountKey(db: Database, wanted: NewKey): Promise<MadeKey | TooManyKeys> {
  return db.transaction(async (run) => {
    // Two concurrent calls cannot both take the last place.
    await lockOpenAccount({ run }, wanted.accountId);
    return (await insert({ run }, wanted, maxActiveKeys)) ?? { kind: 'too_many_keys' };
  });
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

type OldKey = Omit<NewKey, 'accountId'> & { readonly isActive: boolean };

const findOld = maybeOne<OldKey, [keyId: string, accountId: string]>({
  name: 'find-key-to-rotate',
  text: `
select name, scopes, dialect, now() + (expires_at - created_at) as "expiresAt", ${isActive} as "isActive"
from api_keys where id = $1 and account_id = $2`,
});

const letExpire = one<{ oldExpiresAt: number }, [keyId: string, overlapSeconds: number]>({
  name: 'let-key-expire',
  text: `
update api_keys set expires_at = least(expires_at, now() + $2 * interval '1 second') where id = $1
returning expires_at as "oldExpiresAt"`,
});

/** Makes a successor with a key's name, scopes, dialect and length of life; the key then lives on for the overlap. */
export function rotateAccountKey(
  db: Database,
  { accountId, keyId, within, overlapSeconds }: Rotation,
): Promise<RotationOutcome> {
  return db.transaction<RotationOutcome>(async (run) => {
    await lockOpenAccount({ run }, accountId);
    const old = await findOld({ run }, keyId, accountId);
    if (old === undefined) return { kind: 'key_not_found' };
    if (!old.isActive) return { kind: 'key_not_active' };
    const missing = old.scopes.find((scope) => !within.includes(scope));
    if (missing !== undefined) return { kind: 'scope_missing', scope: missing };
    const made = await insert({ run }, { accountId, ...old }, maxActiveKeys);
    if (made === undefined) return { kind: 'too_many_keys' };
    return { ...made, ...(await letExpire({ run }, keyId, overlapSeconds)) };
  });
}

/** Makes a key for an account, with any scopes; undefined when there is no such account. Throws `AccountClosed`. */
export function createKeyAs(db: Database, actor: Actor, wanted: NewKey): Promise<MadeKey | TooManyKeys | undefined> {
  return recordAction<MadeKey | TooManyKeys | undefined>(db, actor, async (transaction) => {
    const { accountId } = wanted;
    if ((await lockOpenAccount(transaction, accountId)) === undefined) return { answer: undefined };
    const answer = await createAccountKey(transaction, wanted);
    if (answer.kind !== 'made') return { answer };
    const { keyId, name, scopes, dialect, expiresAt = null } = answer.apiKey;
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
