import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { parsePayloadKeys } from '../../../src/temporal/connection/payload-keys.ts';
import { createPayloadCodec } from '../../../src/temporal/connection/payload-codec.ts';

const keyText = (id: string, seed = id) => `${id}:${createHash('sha256').update(seed).digest('base64')}`;
const codecOf = (...texts: string[]) => createPayloadCodec(parsePayloadKeys(texts.join(',')));
const plain = createPayloadCodec([]);
const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const valueOf = ([payload]: readonly Payload[]): unknown => payload && defaultPayloadConverter.fromPayload(payload);
const values = [{ taskId: 'a', text: 'grüße 🌊' }, undefined, null, '', new Uint8Array([0, 255, 7])];

for (const value of values) {
  test(`${JSON.stringify(value)} comes back, and cannot be read on its way`, async () => {
    const codec = codecOf(keyText('one'));
    const encoded = await codec.encode([payloadOf(value)]);
    assert.equal(Buffer.from(encoded[0]?.metadata?.['encryption-key-id'] ?? []).toString(), 'one');
    assert.ok(!Buffer.from(encoded[0]?.data ?? []).includes('taskId'));
    assert.deepEqual(valueOf(await codec.decode(encoded)), value);
  });
}

test('the first key encrypts, all decrypt, and what was never encrypted is read as it is', async () => {
  const [before, after] = [codecOf(keyText('old')), codecOf(keyText('new'), keyText('old'))];
  const mixed = [...(await before.encode([payloadOf(1)])), payloadOf(2), ...(await after.encode([payloadOf(3)]))];
  const decoded = await after.decode(mixed);
  assert.deepEqual(
    decoded.map((payload) => valueOf([payload])),
    [1, 2, 3],
  );
  const [mine] = await after.encode([payloadOf(4)]);
  await assert.rejects(before.decode(mine ? [mine] : []), /under the key "new": it is not among TEMPORAL_PAYLOAD_KEYS/);
});

test('a payload of an earlier release stays readable, and its format is named', async () => {
  const metadata = {
    encoding: Buffer.from('binary/encrypted'),
    'encryption-cipher': Buffer.from('AES-256-GCM'),
    'encryption-key-id': Buffer.from('one'),
  };
  const data = 'AQIDBAUGBwgJCgsMx9fldtWx/8YWrRGcjyGKTjbEG3V4o2m6JPe6GVxJztv9LCQ7baE2Y6RtQfvu/nN4u3s0NjPFHRxHKl4=';
  const codec = codecOf(keyText('one'));
  assert.equal(valueOf(await codec.decode([{ metadata, data: Buffer.from(data, 'base64') }])), 'a boat');
  const [encoded] = await codec.encode([payloadOf('a boat')]);
  assert.deepEqual(encoded?.metadata, metadata);
  assert.equal(encoded.data?.length, Buffer.from(data, 'base64').length);
});

test('a codec without keys encrypts nothing, and names the missing key of an encrypted payload', async () => {
  const payload = payloadOf('open');
  assert.deepEqual(await plain.encode([payload]), [payload]);
  const encoded = await codecOf(keyText('one')).encode([payload]);
  await assert.rejects(plain.decode(encoded), /payload cannot be read under the key "one"/);
});

test('with `plain` in front nothing is encrypted, and what is can be read: so all processes get a key before one uses it', async () => {
  const [encrypting, waiting] = [codecOf(keyText('one')), codecOf('plain', keyText('one'))];
  const payload = payloadOf('open');
  assert.deepEqual(await waiting.encode([payload]), [payload]);
  assert.equal(valueOf(await waiting.decode(await encrypting.encode([payload]))), 'open');
});

test('another key of the same id, and a changed byte, are reported, and nothing of the payload is read', async () => {
  const encoded = await codecOf(keyText('one')).encode([payloadOf('x')]);
  await assert.rejects(codecOf(keyText('one', 'another')).decode(encoded), /another key in TEMPORAL_PAYLOAD_KEYS/);
  for (const at of [0, 13, -1]) {
    const data = Buffer.from(encoded[0]?.data ?? []);
    const index = at < 0 ? data.length + at : at;
    data[index] = (data[index] ?? 0) ^ 1;
    await assert.rejects(codecOf(keyText('one')).decode([{ ...encoded[0], data }]), /payload cannot be read/);
  }
});

for (const text of [
  '',
  'x',
  'one:short',
  `${keyText('one')},plain`,
  `${keyText('one')},${keyText('one', 'b')}`,
  `:${'a'.repeat(44)}`,
]) {
  test(`keys such as "${text.slice(0, 12)}" are refused without repeating them`, () => {
    assert.throws(
      () => parsePayloadKeys(text),
      ({ message }: Error) => !message.includes('aaaa') && /ID/.test(message),
    );
  });
}
