import { validate as isUuid } from 'uuid';
import type { WithCatalogueGetter } from '../../catalogue/file/catalogue-schema-and-types.ts';
import { z } from 'zod';
import { dialects, ordinaryScopes, type Scope, scopes } from '../../accounts/keys/scopes-dialects-and-caller.ts';
import { findAccount } from '../../accounts/accounts.ts';
import {
  createKeyWithinAllLimits,
  createKeyAs,
  type MadeKey,
  maxActiveKeys,
  revokeApiKey,
  revokeKeyAs,
  rotateAccountKey,
  type TooManyKeysOutcome,
} from '../../accounts/keys/keys.ts';
import { requireRecentProof } from '../sign-in/authenticate-session.ts';
import { spendCapInputFields } from '../credits/spend-cap-routes.ts';
import { type ModelsByName, unknownModelRefusal } from '../../catalogue/models/model-type-and-name-lookup.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { requireExisting, HttpError, invalidRequest } from '../core/http-error.ts';
import {
  notFutureTimeMessage,
  idField,
  maxUnixMs,
  oneOf,
  uncheckedIdField,
  secretOverlapSecondsField,
  oneLineTextField,
} from '../core/request-fields.ts';
import { idParameter, strictQuery } from '../core/query-parameters.ts';
import type { WithClock, WithDb } from '../core/endpoint-spec.ts';
import { keySchema, presentKey, readKeysWithRecentUse, usedKeySchema } from './key-view.ts';

type CreateDeps = WithDb & WithClock & WithCatalogueGetter;

const listed = {
  description: 'Lists active keys first, then revoked and expired keys, newest first. At most 1,000.',
  data: z.strictObject({ keys: z.array(usedKeySchema).max(1000) }),
};

const list = defineEndpoint({
  operationId: 'listKeys',
  route: 'GET /api/v1/keys',
  scope: 'keys:write',
  summary: 'List keys',
  ...listed,
  handler: ({ caller: { accountId } }, deps) => readKeysWithRecentUse(deps, accountId),
});

const adminList = defineEndpoint({
  operationId: 'adminListKeys',
  route: 'GET /api/admin/v1/keys',
  summary: 'List the keys of an account',
  ...listed,
  query: strictQuery({ accountId: idParameter('an account') }),
  failures: ['account_not_found'],
  handler: async ({ query }, deps) => {
    const { accountId } = requireExisting(await findAccount(deps.db, query.accountId), 'account_not_found');
    return readKeysWithRecentUse(deps, accountId);
  },
});

const newKeyFields = (whichScopes: string) => ({
  name: oneLineTextField(200),
  scopes: z
    .array(oneOf(scopes), { error: 'must be an array of scopes' })
    .min(1, { error: 'must hold at least one scope' })
    .max(scopes.length, { error: `must hold at most ${scopes.length} scopes` })
    .nullish()
    .meta({ description: whichScopes }),
  dialect: oneOf(dialects)
    .meta({ description: "`native` by default; `kie` for clients of kie.ai's API. Cannot be changed." })
    .nullish(),
  models: z
    .array(oneLineTextField(maxModelNameLength), { error: 'must be an array of names of models' })
    .min(1, { error: 'must hold at least one model' })
    .max(maxModelsOfKey, { error: `must hold at most ${maxModelsOfKey} models` })
    .nullish()
    .meta({ description: 'The models that it may use; all by default. Cannot be changed.' }),
  mergeRepeats: z
    .boolean({ error: 'must be true or false' })
    .nullish()
    .meta({
      description:
        'Makes identical creates by this key within a minute one task, unless they have an `Idempotency-Key`. For clients that repeat ' +
        'a create whose response was lost and cannot mark it. Two videos of one prompt then need different seeds.',
    }),
  caps: z
    .strictObject(spendCapInputFields)
    .nullish()
    .meta({ description: 'Limits of its spending, in credits by day and month (UTC) and in total.' }),
  expireTime: z
    .int({ error: notFutureTimeMessage })
    .max(maxUnixMs)
    .meta({ description: 'Unix milliseconds; never expires by default.' })
    .nullish(),
});

type NewKey = z.output<z.ZodObject<ReturnType<typeof newKeyFields>>>;

const maxModelNameLength = 100;
const maxModelsOfKey = 100;

function newKey(
  { name, dialect, models, mergeRepeats, caps, expireTime }: NewKey,
  nowMs: number,
  catalogue: ModelsByName,
) {
  const unknown = (models ?? []).flatMap((model, index) => {
    const message = unknownModelRefusal(catalogue, model);
    return message === undefined ? [] : [{ path: `models[${index}]`, message }];
  });
  if (unknown.length > 0) throw invalidRequest(unknown);
  const expiresAt = expireTime ?? undefined;
  if (expiresAt !== undefined && expiresAt <= nowMs) {
    throw invalidRequest([{ path: 'expireTime', message: notFutureTimeMessage }]);
  }
  const named = models === null || models === undefined ? undefined : [...new Set(models)];
  const rules = { models: named, mergeRepeats: mergeRepeats ?? undefined, caps: caps ?? undefined };
  return { name, dialect: dialect ?? undefined, ...rules, expiresAt };
}

const secretSchema = z.string().meta({ description: 'The key. Store it: it is shown only once.' });

const tooManyKeys = () => new HttpError('too_many_keys', { data: { limit: maxActiveKeys } });

function presentMadeKey(outcome: MadeKey | TooManyKeysOutcome) {
  if (outcome.kind === 'too_many_keys') throw tooManyKeys();
  return { ...presentKey(outcome.apiKey), key: outcome.key };
}

const create = defineEndpoint({
  operationId: 'createKey',
  route: 'POST /api/v1/keys',
  scope: 'keys:write',
  refusesSuspended: true,
  summary: 'Create a key',
  description: `Returns the key once. A key creates no key that may do more: scopes, models, and expiry stay within its own, and spend caps are shared. An account has at most ${maxActiveKeys} active keys.`,
  body: z.strictObject(
    newKeyFields(
      'A subset of the scopes of the calling key. By default, those of `tasks:write`, `tasks:read` and `credits:read` that it has.',
    ),
  ),
  data: keySchema.extend({ key: secretSchema }).meta({ id: 'NewApiKey' }),
  failures: ['account_closed', 'too_many_keys', 'reauthentication_required'],
  handler: async ({ caller: { by, accountId, scopes: own }, input }, { db, now, catalogue }: CreateDeps) => {
    const key = { accountId, scopes: grantedScopes(input.scopes, own), ...newKey(input, now(), catalogue().models) };
    // A key must not do what its creator may do only after re-authentication.
    if (by.kind === 'person' && !key.scopes.every((scope) => ordinaryScopes.includes(scope))) requireRecentProof(by);
    const made = await createKeyWithinAllLimits(db, key, by.kind === 'key' ? by.keyId : undefined);
    if (made.kind === 'beyond_caller') throw invalidRequest([...made.errors]);
    return presentMadeKey(made);
  },
});

const adminCreate = defineEndpoint({
  operationId: 'adminCreateKey',
  route: 'POST /api/admin/v1/keys',
  needsRecentProof: true,
  summary: 'Create a key for an account',
  description: `Returns the key once. An account has at most ${maxActiveKeys} active keys.`,
  body: z.strictObject({
    accountId: idField('an account'),
    ...newKeyFields('By default `tasks:write`, `tasks:read` and `credits:read`.'),
  }),
  data: keySchema.extend({ accountId: z.string(), key: secretSchema }).meta({ id: 'NewApiKeyOfAccount' }),
  failures: ['account_not_found', 'account_closed', 'too_many_keys'],
  handler: async ({ actor, input }, { db, now, catalogue }: CreateDeps) => {
    const { accountId, scopes: named } = input;
    const key = {
      accountId,
      scopes: [...new Set(named ?? ordinaryScopes)],
      ...newKey(input, now(), catalogue().models),
    };
    const made = requireExisting(await createKeyAs(db, actor, key), 'account_not_found');
    return { accountId, ...presentMadeKey(made) };
  },
});

function grantedScopes(named: readonly Scope[] | null | undefined, own: readonly Scope[]): readonly Scope[] {
  const granted = [...new Set(named ?? ordinaryScopes.filter((scope) => own.includes(scope)))];
  const missing = granted.find((scope) => !own.includes(scope));
  if (missing !== undefined) {
    throw new HttpError('scope_missing', { msg: `the API key cannot grant the scope ${missing}, which it lacks` });
  }
  if (granted.length === 0)
    throw invalidRequest([
      { path: 'scopes', message: `is required, because this key has none of ${ordinaryScopes.join(', ')}` },
    ]);
  return granted;
}

const rotate = defineEndpoint({
  operationId: 'rotateKey',
  route: 'POST /api/v1/keys/rotate',
  scope: 'keys:write',
  refusesSuspended: true,
  needsRecentProof: true,
  summary: 'Rotate a key',
  description:
    'Creates a key with the same name, scopes, dialect, models, rules and lifetime, and returns it once. The old key stays valid for `overlapSeconds` ' +
    '(a day by default), so that clients can switch. A key cannot rotate a key that may do more, and the new key expires no later than the calling one.',
  body: z.strictObject({ keyId: uncheckedIdField, overlapSeconds: secretOverlapSecondsField }),
  data: keySchema
    .extend({ key: secretSchema, oldKeyId: z.string(), oldExpireTime: z.int() })
    .meta({ id: 'RotatedApiKey' }),
  failures: ['key_not_found', 'account_closed', 'key_not_active', 'too_many_keys'],
  handler: async ({ caller: { by, accountId, scopes: within }, input: { keyId, overlapSeconds } }, { db }) => {
    if (!isUuid(keyId)) throw new HttpError('key_not_found');
    const madeBy = by.kind === 'key' ? by.keyId : undefined;
    const made = await rotateAccountKey(db, { accountId, keyId, within, madeBy, overlapSeconds });
    if (made.kind === 'scope_missing') {
      const msg = `the API key lacks the scope ${made.scope} of the key to rotate`;
      throw new HttpError('scope_missing', { msg });
    }
    if (made.kind === 'beyond_caller') {
      const exceeding = made.errors.map(({ path, message }) => `${path} ${message}`).join('; ');
      throw invalidRequest([{ path: 'keyId', message: `may do more than the calling key: ${exceeding}` }]);
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
  // Suspended accounts may revoke keys.
  scope: 'keys:write',
  summary: 'Revoke a key',
  description: 'Takes effect immediately and permanently. A key may revoke itself. Idempotent.',
  body: z.strictObject({ keyId: uncheckedIdField }),
  ...revoked,
  handler: async ({ caller, input: { keyId } }, { db }) => {
    const key = isUuid(keyId) ? await revokeApiKey(db, keyId, caller.accountId) : undefined;
    return { keyId, revokeTime: requireExisting(key, 'key_not_found').revokedAt };
  },
});

const adminRevoke = defineEndpoint({
  operationId: 'adminRevokeKey',
  route: 'POST /api/admin/v1/keys/revoke',
  summary: 'Revoke a key of any account',
  description: 'Takes effect immediately and permanently. Idempotent.',
  body: z.strictObject({ keyId: idField('a key') }),
  ...revoked,
  handler: async ({ actor, input: { keyId } }, { db }) => {
    return { keyId, revokeTime: requireExisting(await revokeKeyAs(db, actor, keyId), 'key_not_found') };
  },
});

export const keyEndpoints = [list, create, rotate, revoke];
export const operatorKeyEndpoints = [adminList, adminCreate, adminRevoke];
