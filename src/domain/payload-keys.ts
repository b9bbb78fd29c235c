/** A key that encrypts what Temporal is given. Without bytes it stands for no encryption. */
export type PayloadKey = { readonly id: string; readonly key: Buffer | undefined };

/** How the message begins of every failure for want of the right key. Temporal records it, and `reconcile` knows it again. */
export const payloadKeyFault = 'payload cannot be read under the key';

const keyBytes = 32;
const shape =
  'must be ID:KEY, separated by commas, `plain` in front or not; a KEY is 32 bytes in base64, as from `openssl rand -base64 32`';

/** In the place of the first key: nothing is encrypted yet, or any more, and what is encrypted is read. */
const noEncryption = 'plain';

/** `id:base64,id2:base64`: the first encrypts, all decrypt. No message repeats a key. */
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
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new Error('has two keys of one ID');
  return keys;
}
