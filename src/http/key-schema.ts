import { z } from 'zod';
import { scopes } from '../domain/api-key.ts';
import { dialects } from '../domain/dialect.ts';
import type { ApiKey } from '../stores/api-keys.ts';
import { invalidRequest } from './invalid-request.ts';
import { plainText } from './plain-text.ts';

const unixMs = z.int().nonnegative();

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

/** Puts a key into the words of the API. */
export function shownKey(key: ApiKey): z.output<typeof keySchema> {
  return {
    keyId: key.keyId,
    name: key.name,
    hint: key.hint,
    scopes: [...key.scopes],
    dialect: key.dialect,
    createTime: key.createdAt,
    expireTime: key.expiresAt ?? null,
    lastUseTime: key.lastUsedAt ?? null,
    revokeTime: key.revokedAt ?? null,
  };
}

const timeError = 'must be a future time in Unix milliseconds';

/** What may be said of a key that is to be made. */
export const wantedKeyFields = {
  name: plainText(200),
  scopes: z
    .array(z.enum(scopes, { error: `must be one of ${scopes.join(', ')}` }), { error: 'must be an array of scopes' })
    .min(1, { error: 'must hold at least one scope' })
    .max(scopes.length, { error: `must hold at most ${scopes.length} scopes` })
    .nullish(),
  dialect: z
    .enum(dialects, { error: `must be one of ${dialects.join(', ')}` })
    .meta({ description: "`native`, when it is left out; `kie` is for clients of kie.ai's API. It never changes." })
    .nullish(),
  expireTime: z
    .int({ error: timeError })
    .max(253_402_300_799_999, { error: timeError })
    .meta({ description: 'Unix milliseconds; never, when it is left out.' })
    .nullish(),
};

/** The time at which a key is to expire, undefined for never; one that is past is refused. */
export function futureTime(time: number | null | undefined, nowMs: number): number | undefined {
  if (time === null || time === undefined) return undefined;
  if (time <= nowMs) throw invalidRequest([{ path: 'expireTime', message: timeError }]);
  return time;
}

/** The id of a key in a request; what is no id of ours is simply not found. */
export const keyIdSchema = z.string({
  error: ({ input }) => (input === undefined ? 'is required' : 'must be a string'),
});

export function isKeyId(text: string): boolean {
  return z.uuid().safeParse(text).success;
}
