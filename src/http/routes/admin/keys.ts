import { z } from 'zod';
import { ordinaryScopes } from '../../../domain/api-key.ts';
import { findAccount } from '../../../stores/accounts.ts';
import { createKeyAs, listApiKeys, maxActiveKeys, revokeKeyAs } from '../../../stores/keys.ts';
import { defineEndpoint } from '../../define-endpoint.ts';
import { idField, idParameter, strictQuery } from '../../fields.ts';
import { keySchema, presentKey, presentMadeKey, secretSchema } from '../../presenters/account.ts';
import { futureTime, requireMade, wantedKeyFields } from '../keys.ts';
import { existing } from '../../errors.ts';

const list = defineEndpoint({
  operationId: 'adminListKeys',
  route: 'GET /api/admin/v1/keys',
  scope: 'operator',
  summary: 'The keys of an account',
  description: 'Active keys first, then the newest; revoked and expired ones are listed too. At most 1,000.',
  query: strictQuery({ accountId: idParameter('an account') }),
  data: z.strictObject({ keys: z.array(keySchema).max(1000) }),
  failures: ['account_not_found'],
  handler: async ({ query: { accountId } }, { db }) => {
    existing(await findAccount(db, accountId), 'account_not_found');
    return { keys: (await listApiKeys(db, accountId)).map(presentKey) };
  },
});

const create = defineEndpoint({
  operationId: 'adminCreateKey',
  route: 'POST /api/admin/v1/keys',
  scope: 'operator',
  summary: 'Make a key for an account',
  description: `Shows the new key, this once. At most ${maxActiveKeys} keys of an account are active.`,
  body: z.strictObject({
    accountId: idField('an account'),
    ...wantedKeyFields,
    scopes: wantedKeyFields.scopes.meta({ description: 'All of those but `keys:write`, when they are left out.' }),
  }),
  data: keySchema.extend({ accountId: z.string(), key: secretSchema }).meta({ id: 'NewApiKeyOfAccount' }),
  failures: ['account_not_found', 'too_many_keys'],
  handler: async ({ actor, input: { accountId, name, scopes, dialect, expireTime } }, deps) => {
    const expiresAt = futureTime(expireTime, (deps.now ?? Date.now)());
    const wanted = {
      accountId,
      name,
      scopes: [...new Set(scopes ?? ordinaryScopes)],
      dialect: dialect ?? 'native',
      expiresAt,
    };
    const made = existing(await createKeyAs(deps.db, actor, wanted), 'account_not_found');
    return { accountId, ...presentMadeKey(requireMade(made)) };
  },
});

const revoke = defineEndpoint({
  operationId: 'adminRevokeKey',
  route: 'POST /api/admin/v1/keys/revoke',
  scope: 'operator',
  summary: 'Revoke a key of any account',
  description: 'Counts from the next request on, for good. Repeating it changes nothing.',
  body: z.strictObject({ keyId: idField('a key') }),
  data: z.strictObject({ keyId: z.string(), revokeTime: z.int() }),
  failures: ['key_not_found'],
  handler: async ({ actor, input: { keyId } }, { db }) => {
    return { keyId, revokeTime: existing(await revokeKeyAs(db, actor, keyId), 'key_not_found') };
  },
});

export const operatorKeyEndpoints = [list, create, revoke];
