import { v7 as uuidv7 } from 'uuid';
import { type Scope } from './scopes-dialects-and-caller.ts';
import { activeKeySql } from './active-key-sql.ts';
import type { ApiKey, NewKey } from './key-record.ts';
import type { Actor } from '../operators/actors-and-actions.ts';
import { type BeyondCallerLimitsOutcome, setCapsInTransaction } from '../limits/spend-caps.ts';
import { lockOpenAccount } from '../accounts.ts';
import { type Database, readRow } from '../../platform/database/database.ts';
import {
  findKeyCreatorLimits,
  narrowKeyOrRefuse,
  type KeyCreatorLimits,
  findSuccessorExcessErrors,
} from './narrow-new-key.ts';
import { apiKeyHint, hashApiKey, generateApiKey } from './key-format.ts';
import { changeWithAudit } from '../operators/audit-log.ts';
import { many, maybeOne, one, type StatementRunner } from '../../platform/database/declare-statements.ts';

/** The columns that clients' and operators' keys share, as the fields of an `ApiKey`. */
export const sharedKeyColumnsSql = `name, hint, created_at as "createdAt", expires_at as "expiresAt", last_used_at as "lastUsedAt",
  revoked_at as "revokedAt"`;
const apiKeyColumns = `id as "keyId", scopes, dialect, models, merge_repeats as "mergeRepeats", ${sharedKeyColumnsSql}`;

const insertKey = {
  name: 'create-api-key',
  text: `
insert into api_keys (id, account_id, name, hash, hint, scopes, expires_at, dialect, models, merge_repeats, spend_subject)
select $1, id, $3, $4, $5, $6, to_timestamp($7::float8 / 1000), $8, $10, $11, coalesce($12::uuid, gen_random_uuid()) from accounts
where id = $2 and ($9::int is null or $9 > (select count(*) from api_keys where account_id = $2 and ${activeKeySql}))
returning ${apiKeyColumns}`,
};

/** A new key with its secret, which is returned only once. */
export type MadeKey = { readonly kind: 'made'; readonly key: string; readonly apiKey: ApiKey };
export type TooManyKeysOutcome = { readonly kind: 'too_many_keys' };

/** Returns undefined for an unknown account, and for one with `maxActive` keys. */
async function insert(db: StatementRunner, newKey: NewKey, maxActive?: number): Promise<MadeKey | undefined> {
  const { accountId, name, scopes, expiresAt, dialect = 'native', models, mergeRepeats = false, caps } = newKey;
  const key = generateApiKey();
  const secret = [hashApiKey(key), apiKeyHint(key)];
  const rules = [maxActive, models, mergeRepeats, newKey.spendSubject];
  const values = [uuidv7(), accountId, name, ...secret, scopes, expiresAt, dialect, ...rules];
  const apiKey = await readRow<ApiKey>(db, insertKey, values);
  if (apiKey === undefined) return undefined;
  if (caps !== undefined) await setCapsInTransaction(db, accountId, { kind: 'key', id: apiKey.keyId }, caps);
  return { kind: 'made', key, apiKey };
}

/**
 * Creates a key without a limit per account. Returns undefined for an unknown account. The caller checks that the account is open. Caps
 * require a transaction that holds the account's lock.
 */
export async function createKeyUnchecked(
  db: StatementRunner,
  newKey: NewKey,
): Promise<{ readonly keyId: string; readonly key: string } | undefined> {
  const made = await insert(db, newKey);
  return made && { keyId: made.apiKey.keyId, key: made.key };
}

/** Lists at most 1,000 keys, including revoked ones: active ones first, then the newest. */
export const listApiKeys = many<ApiKey, [accountId: string]>({
  name: 'list-api-keys',
  text: `
select ${apiKeyColumns} from api_keys where account_id = $1 order by ${activeKeySql} desc, created_at desc, id desc limit 1000`,
});

export const listApiKeysAfter = many<ApiKey, [accountId: string, after: string | undefined, limit: number]>({
  name: 'list-api-keys-after',
  text: `
select ${apiKeyColumns} from api_keys
where account_id = $1 and ($2::uuid is null or id > $2) order by id limit $3`,
});

/** `changed`: it was not revoked before. */
export type RevokedKey = Pick<NewKey, 'accountId'> &
  Pick<ApiKey, 'name' | 'hint'> & { readonly revokedAt: number; readonly changed: boolean };

/** Revokes a key of the account, or of any account without `accountId`, from the next request on. */
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

/** Includes keys in the overlap of a rotation. */
export const maxActiveKeys = 100;

/** Creates a key, within the limits of the key `madeBy` if there is one. The account must exist. Throws `AccountClosedError`. */
export function createKeyWithinAllLimits(
  db: Database,
  newKey: NewKey,
  madeBy?: string,
): Promise<MadeKey | TooManyKeysOutcome | BeyondCallerLimitsOutcome> {
  return db.transaction<MadeKey | TooManyKeysOutcome | BeyondCallerLimitsOutcome>(async (run) => {
    // The lock serializes creates, so that concurrent ones do not exceed the limit.
    await lockOpenAccount({ run }, newKey.accountId);
    const own = madeBy === undefined ? undefined : await limitsOf({ run }, newKey.accountId, madeBy);
    const narrowed = own === undefined ? { key: newKey } : narrowKeyOrRefuse(newKey, own);
    if ('errors' in narrowed) return { kind: 'beyond_caller', ...narrowed };
    return (await insert({ run }, narrowed.key, maxActiveKeys)) ?? { kind: 'too_many_keys' };
  });
}

async function limitsOf(db: StatementRunner, accountId: string, keyId: string): Promise<KeyCreatorLimits> {
  const own = await findKeyCreatorLimits(db, keyId, accountId);
  if (own === undefined) throw new Error(`the calling key ${keyId} is not one of its account`);
  return own;
}

export type KeyToRotate = {
  readonly accountId: string;
  readonly keyId: string;
  /** The scopes of the caller. A key with further scopes is not rotated, because the caller would gain them. */
  readonly within: readonly Scope[];
  /** The calling key, whose limits the new key must not exceed; undefined for a person. */
  readonly madeBy?: string | undefined;
  /** The old key stays valid for this time, unless it expires earlier. */
  readonly overlapSeconds: number;
};

export type RotationOutcome =
  | (MadeKey & { readonly oldExpiresAt: number })
  | TooManyKeysOutcome
  | BeyondCallerLimitsOutcome
  | { readonly kind: 'key_not_found' }
  | { readonly kind: 'key_not_active' }
  | { readonly kind: 'scope_missing'; readonly scope: Scope };

type OldKey = Omit<NewKey, 'accountId'> & { readonly isActive: boolean };

const findOld = maybeOne<OldKey, [keyId: string, accountId: string]>({
  name: 'find-key-to-rotate',
  text: `
select name, scopes, dialect, models, merge_repeats as "mergeRepeats", spend_subject as "spendSubject", now() + (expires_at - created_at) as "expiresAt", ${activeKeySql} as "isActive"
from api_keys where id = $1 and account_id = $2`,
});

const expireOld = one<{ oldExpiresAt: number }, [keyId: string, overlapSeconds: number]>({
  name: 'expire-rotated-key',
  text: `
update api_keys set expires_at = least(expires_at, now() + $2 * interval '1 second') where id = $1
returning expires_at as "oldExpiresAt"`,
});

/** Creates a key with the same name, scopes, dialect, rules and lifetime. The old key expires after the overlap. */
export function rotateAccountKey(
  db: Database,
  { accountId, keyId, within, madeBy, overlapSeconds }: KeyToRotate,
): Promise<RotationOutcome> {
  return db.transaction<RotationOutcome>(async (run) => {
    await lockOpenAccount({ run }, accountId);
    const old = await findOld({ run }, keyId, accountId);
    if (old === undefined) return { kind: 'key_not_found' };
    if (!old.isActive) return { kind: 'key_not_active' };
    const missing = old.scopes.find((scope) => !within.includes(scope));
    if (missing !== undefined) return { kind: 'scope_missing', scope: missing };
    const own = madeBy === undefined ? undefined : await limitsOf({ run }, accountId, madeBy);
    const errors = own === undefined ? [] : findSuccessorExcessErrors({ accountId, ...old }, own);
    if (errors.length > 0) return { kind: 'beyond_caller', errors };
    const expiresAt = earliest(old.expiresAt, own?.expiresAt);
    const made = await insert({ run }, { accountId, ...old, expiresAt }, maxActiveKeys);
    if (made === undefined) return { kind: 'too_many_keys' };
    return { ...made, ...(await expireOld({ run }, keyId, overlapSeconds)) };
  });
}

function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const given = times.filter((time) => time !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}

/** Returns undefined for an unknown account. Throws `AccountClosedError`. */
export function createKeyAs(
  db: Database,
  actor: Actor,
  newKey: NewKey,
): Promise<MadeKey | TooManyKeysOutcome | undefined> {
  return changeWithAudit<MadeKey | TooManyKeysOutcome | undefined>(db, actor, async (transaction) => {
    const { accountId } = newKey;
    if ((await lockOpenAccount(transaction, accountId)) === undefined) return { answer: undefined };
    const answer = await insert(transaction, newKey, maxActiveKeys);
    if (answer === undefined) return { answer: { kind: 'too_many_keys' } };
    const { keyId, name, scopes, dialect, models = null, mergeRepeats, expiresAt = null } = answer.apiKey;
    const details = { name, scopes, dialect, models, mergeRepeats, caps: newKey.caps ?? null, expiresAt };
    return { answer, done: { action: 'keys.create', accountId, keyId, details } };
  });
}

/** Returns the time of the revocation, or undefined for an unknown key. */
export function revokeKeyAs(db: Database, actor: Actor, keyId: string): Promise<number | undefined> {
  return changeWithAudit(db, actor, async (transaction) => {
    const revoked = await revokeApiKey(transaction, keyId);
    if (revoked?.changed !== true) return { answer: revoked?.revokedAt };
    const { accountId, name, hint, revokedAt } = revoked;
    return { answer: revokedAt, done: { action: 'keys.revoke', accountId, keyId, details: { name, hint } } };
  });
}
