import { validate as isUuid } from 'uuid';
import { z } from 'zod';
import { dialects, ordinaryScopes, type Scope, scopes } from '../../domain/api-key.ts';
import { findAccount } from '../../stores/accounts.ts';
import {
  type ApiKey,
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
import { requireRecentProof } from '../console/authenticate-session.ts';
import { listKeyUses, maxTasksOfUse } from '../../stores/usage.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { existing, HttpError, invalidRequest } from '../errors.ts';
import { idField, maxUnixMs, oneOf, opaqueId, overlapField, plainText, unixMs } from '../fields.ts';
import { idParameter, strictQuery } from '../query.ts';
import { view } from '../presenters/view.ts';

/** A key as its owner may see it; the secret itself is not kept. */
const keySchema = z
  .strictObject({
    keyId: z.string(),
    name: z.string(),
    hint: z.string().meta({ description: 'Beginning and end of the key, to tell it from its siblings.' }),
    scopes: z.array(z.enum(scopes)),
    dialect: z.enum(dialects).meta({ description: 'In which words requests with the key are read and answered.' }),
    createTime: unixMs,
    expireTime: unixMs.nullable(),
    lastUseTime: unixMs.nullable().meta({ description: 'Exact to about a minute.' }),
    revokeTime: unixMs.nullable(),
  })
  .meta({ id: 'ApiKey' });

export function presentKey(key: ApiKey) {
  const { createdAt: createTime, expiresAt: expireTime, lastUsedAt: lastUseTime, revokedAt: revokeTime } = key;
  return view(keySchema, { ...key, createTime, expireTime, lastUseTime, revokeTime });
}

const usedKeySchema = keySchema
  .extend({
    uses: z.strictObject({ tasks: z.int().nonnegative(), credits: z.int().nonnegative() }).meta({
      description:
        'Tasks that the key made in the last 30 days, and what they cost less their refunds; of an account with more than ' +
        `${maxTasksOfUse} tasks in that time, of the newest.`,
    }),
  })
  .meta({ id: 'UsedApiKey' });

const listed = {
  description: 'Active keys first, then the newest; revoked and expired ones are listed too. At most 1,000.',
  data: z.strictObject({ keys: z.array(keySchema).max(1000) }),
};

const list = defineEndpoint({
  operationId: 'listKeys',
  route: 'GET /api/v1/keys',
  scope: 'keys:write',
  summary: "The account's keys",
  description: listed.description,
  data: z.strictObject({ keys: z.array(usedKeySchema).max(1000) }),
  handler: async ({ caller: { accountId } }, { db }) => {
    const [keys, uses] = await Promise.all([listApiKeys(db, accountId), listKeyUses(db, accountId)]);
    const useOf = new Map(uses.map(({ keyId, tasks, credits }) => [keyId, { tasks, credits }]));
    return {
      keys: keys.map((key) => ({ ...presentKey(key), uses: useOf.get(key.keyId) ?? { tasks: 0, credits: 0 } })),
    };
  },
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

const secretSchema = z.string().meta({ description: 'The key itself. Keep it: it is not shown again.' });

const tooManyKeys = () => new HttpError('too_many_keys', { data: { limit: maxActiveKeys } });

function presentMadeKey(outcome: MadeKey | TooManyKeys) {
  if (outcome.kind === 'too_many_keys') throw tooManyKeys();
  return { ...presentKey(outcome.apiKey), key: outcome.key };
}

const create = defineEndpoint({
  operationId: 'createKey',
  route: 'POST /api/v1/keys',
  scope: 'keys:write',
  refusesSuspended: true,
  summary: 'Make a key',
  description: `Shows the new key, this once. A key can never grant more scopes than it has itself. At most ${maxActiveKeys} keys of an account are active.`,
  body: z.strictObject(
    wantedFields(
      'At most those of the calling key. By default, those of `tasks:write`, `tasks:read` and `credits:read` that it has.',
    ),
  ),
  data: keySchema.extend({ key: secretSchema }).meta({ id: 'NewApiKey' }),
  failures: ['account_closed', 'too_many_keys', 'reauthentication_required'],
  handler: async ({ caller: { by, accountId, scopes: own }, input }, { db, now }) => {
    const wanted = { accountId, scopes: grantedScopes(input.scopes, own), ...wantedKey(input, now()) };
    // Otherwise the key would do what the session may do only after a recent proof.
    if (by.kind === 'person' && !wanted.scopes.every((scope) => ordinaryScopes.includes(scope))) requireRecentProof(by);
    return presentMadeKey(await createAccountKey(db, wanted));
  },
});

const adminCreate = defineEndpoint({
  operationId: 'adminCreateKey',
  route: 'POST /api/admin/v1/keys',
  needsRecentProof: true,
  summary: 'Make a key for an account',
  description: `Shows the new key, this once. At most ${maxActiveKeys} keys of an account are active.`,
  body: z.strictObject({
    accountId: idField('an account'),
    ...wantedFields('By default `tasks:write`, `tasks:read` and `credits:read`.'),
  }),
  data: keySchema.extend({ accountId: z.string(), key: secretSchema }).meta({ id: 'NewApiKeyOfAccount' }),
  failures: ['account_not_found', 'account_closed', 'too_many_keys'],
  handler: async ({ actor, input }, { db, now }) => {
    const { accountId, scopes: named } = input;
    const wanted = { accountId, scopes: [...new Set(named ?? ordinaryScopes)], ...wantedKey(input, now()) };
    const made = existing(await createKeyAs(db, actor, wanted), 'account_not_found');
    return { accountId, ...presentMadeKey(made) };
  },
});

/** The named scopes; by default the ordinary ones that the caller has. Throws for a scope that the caller lacks. */
function grantedScopes(named: readonly Scope[] | null | undefined, own: readonly Scope[]): readonly Scope[] {
  const granted = [...new Set(named ?? ordinaryScopes.filter((scope) => own.includes(scope)))];
  const missing = granted.find((scope) => !own.includes(scope));
  if (missing !== undefined) {
    throw new HttpError('scope_missing', { msg: `the API key lacks the scope ${missing}, so it cannot grant it` });
  }
  if (granted.length === 0)
    throw invalidRequest([
      { path: 'scopes', message: `is required: this key has none of ${ordinaryScopes.join(', ')}` },
    ]);
  return granted;
}

const rotate = defineEndpoint({
  operationId: 'rotateKey',
  route: 'POST /api/v1/keys/rotate',
  scope: 'keys:write',
  refusesSuspended: true,
  needsRecentProof: true,
  summary: 'Replace a key',
  description:
    'Makes a key with the same name, scopes, dialect and length of life, and shows it, this once. The old key lives on for ' +
    '`overlapSeconds` (a day unless given), so that its users can change over. A key with more scopes than the ' +
    'calling one cannot be rotated by it.',
  body: z.strictObject({ keyId: opaqueId, overlapSeconds: overlapField }),
  data: keySchema
    .extend({ key: secretSchema, oldKeyId: z.string(), oldExpireTime: z.int() })
    .meta({ id: 'RotatedApiKey' }),
  failures: ['key_not_found', 'account_closed', 'key_not_active', 'too_many_keys'],
  handler: async ({ caller: { accountId, scopes: within }, input: { keyId, overlapSeconds } }, { db }) => {
    if (!isUuid(keyId)) throw new HttpError('key_not_found');
    const made = await rotateAccountKey(db, { accountId, keyId, within, overlapSeconds });
    if (made.kind === 'scope_missing') {
      const msg = `the API key lacks the scope ${made.scope} of the key that it would replace`;
      throw new HttpError('scope_missing', { msg });
    }
    if (made.kind === 'key_not_found' || made.kind === 'key_not_active') throw new HttpError(made.kind);
    if (made.kind === 'too_many_keys') throw tooManyKeys();
    return { ...presentMadeKey(made), oldKeyId: keyId, oldExpireTime: made.oldExpiresAt };
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
