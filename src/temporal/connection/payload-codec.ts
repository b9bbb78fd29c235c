import type { Payload, PayloadCodec } from '@temporalio/common';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { payloadKeyErrorPrefix, type PayloadKey } from './payload-keys.ts';

// Encrypts the payloads that Temporal stores of a workflow: arguments, results, heartbeats, memos and summaries. Ids, search attributes
// and messages of failures stay readable; none of them holds a prompt.

/** The payload's key is missing in this process. Retries succeed once it is configured, so nothing is lost. */
class PayloadKeyError extends Error {
  override readonly name = 'PayloadKeyError';

  constructor(keyId: string, problem: string) {
    super(`${payloadKeyErrorPrefix} ${JSON.stringify(keyId)}: ${problem}`);
  }
}

const encoding = Buffer.from('binary/encrypted');
const cipherName = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const lengthBytes = 4;

/**
 * Encrypts with the first key, and reads plain payloads and those of every key. If there are no keys it encrypts nothing, and reports
 * encrypted payloads as lacking their key.
 */
export function createPayloadCodec(keys: readonly PayloadKey[]): PayloadCodec {
  const { id: currentId = '', key: currentKey } = keys[0] ?? {};
  const keyOf = new Map(keys.flatMap(({ id, key }) => (key === undefined ? [] : [[id, key] as const])));
  return {
    encode: async (payloads) =>
      currentKey === undefined ? payloads : payloads.map((payload) => encrypt(currentId, currentKey, payload)),
    decode: async (payloads) => payloads.map((payload) => (isEncrypted(payload) ? decrypt(keyOf, payload) : payload)),
  };
}

function isEncrypted({ metadata }: Payload): boolean {
  return encoding.equals(metadata?.['encoding'] ?? Buffer.alloc(0));
}

function encrypt(id: string, key: Buffer, payload: Payload): Payload {
  const nonce = randomBytes(nonceBytes);
  const keyId = Buffer.from(id);
  const cipher = createCipheriv(cipherName, key, nonce).setAAD(keyId);
  const data = Buffer.concat([nonce, cipher.update(packed(payload)), cipher.final(), cipher.getAuthTag()]);
  return { metadata: { encoding, 'encryption-cipher': Buffer.from('AES-256-GCM'), 'encryption-key-id': keyId }, data };
}

function decrypt(keyOf: ReadonlyMap<string, Buffer>, { metadata, data }: Payload): Payload {
  const keyId = Buffer.from(metadata?.['encryption-key-id'] ?? []);
  const key = keyOf.get(keyId.toString());
  if (key === undefined) throw new PayloadKeyError(keyId.toString(), 'it is not among TEMPORAL_PAYLOAD_KEYS');
  const bytes = Buffer.from(data ?? []);
  const decipher = createDecipheriv(cipherName, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(keyId)
    .setAuthTag(bytes.subarray(-tagBytes));
  try {
    return unpacked(Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]));
  } catch {
    throw new PayloadKeyError(keyId.toString(), 'it is another key in TEMPORAL_PAYLOAD_KEYS');
  }
}

/** The length of the metadata, the metadata as JSON, the data. */
function packed({ metadata, data }: Payload): Buffer {
  const texts = Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]);
  const head = Buffer.from(JSON.stringify(Object.fromEntries(texts)));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, data ?? Buffer.alloc(0)]);
}

function unpacked(bytes: Buffer): Payload {
  const end = lengthBytes + bytes.readUInt32BE(0);
  // The tag proves that `packed` wrote it.
  const texts = JSON.parse(bytes.subarray(lengthBytes, end).toString()) as Record<string, string>;
  const metadata = Object.fromEntries(
    Object.entries(texts).map(([name, value]): [string, Uint8Array] => [name, Buffer.from(value, 'base64')]),
  );
  return { metadata, data: bytes.subarray(end) };
}
