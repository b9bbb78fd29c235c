import { validate as isUuid } from 'uuid';
import { z } from 'zod';
import { dialects, ordinaryScopes, type Scope, scopes } from '../../domain/api-key.ts';
import { findAccount } from '../../stores/accounts.ts';
import {
  createAccountKey,
  createKeyAs,
  listApiKeys,
  type MadeKey,
  maxActiveKeys,
  revokeApiKey,
  revokeKeyAs,
  rotateAccountKey,
  type TooManyKeys,
} from '../../stores/keys.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { existing, HttpError, invalidRequest } from '../errors.ts';
import { idField, idParameter, maxUnixMs, oneOf, opaqueId, overlapField, plainText, strictQuery } from '../fields.ts';
import { keySchema, presentKey, presentMadeKey, secretSchema } from '../presenters/account.ts';

const listed = {
  description: 'Active keys first, then the newest; revoked and expired ones are listed too. At most 1,000.',
  data: z.strictObject({ keys: z.array(keySchema).max(1000) }),
};

const list = defineEndpoint({
  operationId: 'listKeys',
  route: 'GET /api/v1/keys',
  scope: 'keys:write',
  summary: "The account's keys",
  ...listed,
  handler: async ({ caller }, { db }) => ({ keys: (await listApiKeys(db, caller.accountId)).map(presentKey) }),
});

const adminList = defineEndpoint({
  operationId: 'adminListKeys',
  route: 'GET /api/admin/v1/keys',
  summary: 'The keys of an account',
  ...listed,
  query: strictQuery({ accountId: idParameter('an account') }),
  failures: ['account_not_found'],
  handler: async ({ query: { accountId } }, { db }) => {
    existing(await findAccount(db, accountId), 'account_not_found');
    return { keys: (await listApiKeys(db, accountId)).map(presentKey) };
  },
});

const timeError = 'must be a future time in Unix milliseconds';

/** What may be said of a key that is to be made. */
const wantedFields = (whichScopes: string) => ({
  name: plainText(200),
  scopes: z
    .array(oneOf(scopes), { error: 'must be an array of scopes' })
    .min(1, { error: 'must hold at least one scope' })
    .max(scopes.length, { error: `must hold at most ${scopes.length} scopes` })
    .nullish()
    .meta({ description: whichScopes }),
  dialect: oneOf(dialects)
    .meta({ description: "`native`, when it is left out; `kie` is for clients of kie.ai's API. It never changes." })
    .nullish(),
  expireTime: z
    .int({ error: timeError })
    .max(maxUnixMs)
    .meta({ description: 'Unix milliseconds; never, when it is left out.' })
    .nullish(),
});

type Wanted = z.output<z.ZodObject<ReturnType<typeof wantedFields>>>;

function wantedKey({ name, dialect, expireTime }: Wanted, nowMs: number) {
  const expiresAt = expireTime ?? undefined;
  if (expiresAt !== undefined && expiresAt <= nowMs) {
    throw invalidRequest([{ path: 'expireTime', message: timeError }]);
  }
  return { name, dialect: dialect ?? undefined, expiresAt };
}

/** The key that was made; throws when the account has too many. */
function requireMade<Made extends MadeKey>(outcome: Made | TooManyKeys): Made {
  if (outcome.kind === 'too_many_keys') throw new HttpError('too_many_keys', { data: { limit: maxActiveKeys } });
  return outcome;
}

const create = defineEndpoint({
  operationId: 'createKey',
  route: 'POST /api/v1/keys',
  scope: 'keys:write',
  refusesSuspended: true,
  summary: 'Make a key',
  description: `Shows the new key, this once. A key can never grant more scopes than it has itself. At most ${maxActiveKeys} keys of an account are active.`,
  body: z.strictObject(wantedFields('Those of the calling key at most; without them all of those but `keys:write`.')),
  data: keySchema.extend({ key: secretSchema }).meta({ id: 'NewApiKey' }),
  failures: ['too_many_keys'],
  handler: async ({ caller: { accountId, scopes: own }, input }, { db, now = Date.now }) => {
    const wanted = { accountId, scopes: grantedScopes(input.scopes, own), ...wantedKey(input, now()) };
    return presentMadeKey(requireMade(await createAccountKey(db, wanted)));
  },
});

const adminCreate = defineEndpoint({
  operationId: 'adminCreateKey',
  route: 'POST /api/admin/v1/keys',
  summary: 'Make a key for an account',
  description: `Shows the new key, this once. At most ${maxActiveKeys} keys of an account are active.`,
  body: z.strictObject({
    accountId: idField('an account'),
    ...wantedFields('All of those but `keys:write`, when they are left out.'),
  }),
  data: keySchema.extend({ accountId: z.string(), key: secretSchema }).meta({ id: 'NewApiKeyOfAccount' }),
  failures: ['account_not_found', 'too_many_keys'],
  handler: async ({ actor, input }, { db, now = Date.now }) => {
    const { accountId, scopes: named } = input;
    const wanted = { accountId, scopes: [...new Set(named ?? ordinaryScopes)], ...wantedKey(input, now()) };
    const made = existing(await createKeyAs(db, actor, wanted), 'account_not_found');
    return { accountId, ...presentMadeKey(requireMade(made)) };
  },
});

/** Unless named: all that the caller has, but not the right to make keys. Throws for a scope that the caller has not. */
function grantedScopes(named: readonly Scope[] | null | undefined, own: readonly Scope[]): readonly Scope[] {
  const granted = [...new Set(named ?? ordinaryScopes.filter((scope) => own.includes(scope)))];
  const missing = granted.find((scope) => !own.includes(scope));
  if (missing !== undefined) {
    throw new HttpError('scope_missing', { msg: `the API key lacks the scope ${missing}, so it cannot grant it` });
  }
  if (granted.length === 0)
    throw invalidRequest([{ path: 'scopes', message: 'is required: this key has only keys:write' }]);
  return granted;
}

const rotate = defineEndpoint({
  operationId: 'rotateKey',
  route: 'POST /api/v1/keys/rotate',
  scope: 'keys:write',
  refusesSuspended: true,
  summary: 'Replace a key',
  description:
    'Makes a key with the same name, scopes, dialect and length of life, and shows it, this once. The old key lives on for ' +
    '`overlapSeconds` (a day unless given), so that its users can change over. A key with more scopes than the ' +
    'calling one cannot be rotated by it.',
  body: z.strictObject({ keyId: opaqueId, overlapSeconds: overlapField }),
  data: keySchema
    .extend({ key: secretSchema, oldKeyId: z.string(), oldExpireTime: z.int() })
    .meta({ id: 'RotatedApiKey' }),
  failures: ['key_not_found', 'key_not_active', 'too_many_keys'],
  handler: async ({ caller: { accountId, scopes: within }, input: { keyId, overlapSeconds } }, { db }) => {
    if (!isUuid(keyId)) throw new HttpError('key_not_found');
    const made = await rotateAccountKey(db, { accountId, keyId, within, overlapSeconds });
    if (made.kind === 'scope_missing') {
      const msg = `the API key lacks the scope ${made.scope} of the key that it would replace`;
      throw new HttpError('scope_missing', { msg });
    }
    if (made.kind === 'key_not_found' || made.kind === 'key_not_active') throw new HttpError(made.kind);
    const { oldExpiresAt, ...successor } = requireMade(made);
    return { ...presentMadeKey(successor), oldKeyId: keyId, oldExpireTime: oldExpiresAt };
  },
});

const revoked = {
  data: z.strictObject({ keyId: z.string(), revokeTime: z.int() }),
  failures: ['key_not_found'],
} as const;

const revoke = defineEndpoint({
  operationId: 'revokeKey',
  route: 'POST /api/v1/keys/revoke',
  // A suspended account may revoke: it can only make things safer.
  scope: 'keys:write',
  summary: 'Revoke a key',
  description: 'Counts from the next request on, for good. A key may revoke itself. Repeating it changes nothing.',
  body: z.strictObject({ keyId: opaqueId }),
  ...revoked,
  handler: async ({ caller, input: { keyId } }, { db }) => {
    const key = isUuid(keyId) ? await revokeApiKey(db, keyId, caller.accountId) : undefined;
    return { keyId, revokeTime: existing(key, 'key_not_found').revokedAt };
  },
});

const adminRevoke = defineEndpoint({
  operationId: 'adminRevokeKey',
  route: 'POST /api/admin/v1/keys/revoke',
  summary: 'Revoke a key of any account',
  description: 'Counts from the next request on, for good. Repeating it changes nothing.',
  body: z.strictObject({ keyId: idField('a key') }),
  ...revoked,
  handler: async ({ actor, input: { keyId } }, { db }) => {
    return { keyId, revokeTime: existing(await revokeKeyAs(db, actor, keyId), 'key_not_found') };
  },
});

export const keyEndpoints = [list, create, rotate, revoke];
export const operatorKeyEndpoints = [adminList, adminCreate, adminRevoke];
