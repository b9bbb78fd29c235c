/** Encrypts payloads for Temporal; without bytes, they stay plain. */
export type PayloadKey = { readonly id: string; readonly key: Buffer | undefined };

/** The prefix of every failure caused by a missing key. Temporal records it, and `reconcile` detects it. */
export const payloadKeyErrorPrefix = 'payload cannot be read under the key';

const keyBytes = 32;
const shape =
  'must be ID:KEY, separated by commas, `plain` in front or not; a KEY is 32 bytes in base64, as from `openssl rand -base64 32`';

/** As the first key, it disables encryption; payloads encrypted with the other keys can still be read. */
const noEncryption = 'plain';

/** `id:base64,id2:base64`: the first encrypts, all decrypt. Messages never contain a key. */
export function parsePayloadKeys(text: string): readonly PayloadKey[] {
  const keys = text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map((part, index) => {
      if (part === noEncryption && index === 0) return { id: noEncryption, key: undefined };
      const [, id = '', encoded = ''] = /^([\w.-]{1,64}):([A-Za-z0-9+/_-]{42,44}={0,2})$/.exec(part) ?? [];
      return { id, key: Buffer.from(encoded, 'base64') };
    });
  if (keys.length === 0 || keys.some(({ key }) => key !== undefined && key.length !== keyBytes)) throw new Error(shape);
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new Error('must not have two keys with the same ID');
  return keys;
}
