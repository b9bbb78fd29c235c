import { z } from 'zod';
import { dialects, scopes } from '../../accounts/keys/scopes-dialects-and-caller.ts';
import type { ApiKey } from '../../accounts/keys/key-record.ts';
import { listApiKeys } from '../../accounts/keys/keys.ts';
import { listKeyUses, maxTasksOfKeyUses } from '../../credits/reports/account-usage-and-summary.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { unixMsSchema } from '../core/request-fields.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';

export const keySchema = z
  .strictObject({
    keyId: z.string(),
    name: z.string(),
    hint: z.string().meta({ description: 'The beginning and end of the key.' }),
    scopes: z.array(z.enum(scopes)),
    dialect: z.enum(dialects).meta({ description: 'The spelling of requests and records.' }),
    models: z.array(z.string()).nullable().meta({ description: 'The models that it may use; null for all.' }),
    mergeRepeats: z.boolean().meta({ description: 'Identical creates within a minute are one task.' }),
    createTime: unixMsSchema,
    expireTime: unixMsSchema.nullable(),
    lastUseTime: unixMsSchema.nullable().meta({ description: 'Accurate to about a minute.' }),
    revokeTime: unixMsSchema.nullable(),
  })
  .meta({ id: 'ApiKey' });

export function presentKey(key: ApiKey) {
  const { createdAt: createTime, expiresAt: expireTime, lastUsedAt: lastUseTime, revokedAt: revokeTime } = key;
  return pickRowFieldsBySchema(keySchema, { ...key, createTime, expireTime, lastUseTime, revokeTime });
}

export const usedKeySchema = keySchema
  .extend({
    uses: z.strictObject({ tasks: z.int().nonnegative(), credits: z.int().nonnegative() }).meta({
      description: `Tasks of the last 30 days and their cost less refunds; at most the account's newest ${maxTasksOfKeyUses} tasks.`,
    }),
  })
  .meta({ id: 'UsedApiKey' });

export async function readKeysWithRecentUse({ db }: WithDb, accountId: string) {
  const [keys, uses] = await Promise.all([listApiKeys(db, accountId), listKeyUses(db, accountId)]);
  const useOf = new Map(uses.map(({ keyId, tasks, credits }) => [keyId, { tasks, credits }]));
  return {
    keys: keys.map((key) => ({ ...presentKey(key), uses: useOf.get(key.keyId) ?? { tasks: 0, credits: 0 } })),
  };
}
