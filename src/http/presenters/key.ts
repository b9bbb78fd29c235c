import { z } from 'zod';
import { dialects, scopes } from '../../domain/api-key.ts';
import type { ApiKey } from '../../stores/keys.ts';
import { unixMs } from '../fields.ts';

/** A key as its owner may see it; the secret itself is not kept. */
export const keySchema = z
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

/** The secret of a key that was just made. */
export const secretSchema = z.string().meta({ description: 'The key itself. Keep it: it is not shown again.' });

export function presentKey({ createdAt, expiresAt, lastUsedAt, revokedAt, ...key }: ApiKey) {
  return {
    ...key,
    createTime: createdAt,
    expireTime: expiresAt ?? null,
    lastUseTime: lastUsedAt ?? null,
    revokeTime: revokedAt ?? null,
  };
}
