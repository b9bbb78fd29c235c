import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { newCallbackSecret } from '../../src/outbound/callback-secret.ts';
import { createCallbackSlots } from '../../src/outbound/callback-slots.ts';
import type { PostAnswer, PostOptions } from '../../src/outbound/guarded-post.ts';
import { OutboundError } from '../../src/outbound/outbound-error.ts';
import { type CallbackPost, createCallbackPoster } from '../../src/outbound/post-callback.ts';

const taskId = '019abc12-3456-7def-8901-234567890abc';
const body = JSON.stringify({ code: 200, msg: 'success', data: { prompt: 'ünïcode 🎬' } });

type Play = (options: PostOptions) => Promise<PostAnswer>;

function posterWith(play: Play, extra: { secrets?: readonly string[]; now?: () => number } = {}) {
  const { secrets = [newCallbackSecret()], now } = extra;
  const slots = createCallbackSlots({ maxPerAccount: 1 });
  const post = createCallbackPoster({
    client: { post: (_url, options) => play(options) },
    slots,
    ...(now !== undefined && { now }),
  });
  return (callback: Partial<CallbackPost> = {}) =>
    post({
      taskId,
      accountId: 'alice',
      url: 'http://receiver.example/',
      dialect: 'native',
      body: () => Promise.resolve(body),
      secrets: () => Promise.resolve(secrets),
      signal: new AbortController().signal,
      ...callback,
    });
}

function answering(status: number, headers: PostAnswer['headers'] = {}): Play {
  return () => Promise.resolve({ status, headers, body: Buffer.from('thanks') });
}

function verified(secret: string, { headers, body: sent }: PostOptions): void {
  new Webhook(secret).verify(String(sent), { ...headers });
}

test('each attempt carries the same webhook-id, a timestamp of its own, and a signature that the standard accepts', async () => {
  const secret = newCallbackSecret();
  const sent: PostOptions[] = [];
  let nowMs = Date.now();
  const post = posterWith(
    (options) => {
      sent.push(options);
      return answering(500)(options);
    },
    { secrets: [secret], now: () => nowMs },
  );
  await post();
  nowMs += 60_000;
  await post();
  const [first, second] = sent;
  assert.ok(first !== undefined && second !== undefined);
  assert.equal(first.headers['webhook-id'], 'msg_019abc1234567def8901234567890abc');
  assert.equal(second.headers['webhook-id'], first.headers['webhook-id']);
  assert.equal(Number(second.headers['webhook-timestamp']) - Number(first.headers['webhook-timestamp']), 60);
  assert.notEqual(second.headers['webhook-signature'], first.headers['webhook-signature']);
  for (const attempt of sent) assert.doesNotThrow(() => verified(secret, attempt));
});

test('during a rotation both secrets verify, and no other one does', async () => {
  const [next, old] = [newCallbackSecret(), newCallbackSecret()];
  let sent: PostOptions | undefined;
  await posterWith(
    (options) => {
      sent = options;
      return answering(204)(options);
    },
    { secrets: [next, old] },
  )();
  assert.ok(sent);
  const attempt = sent;
  for (const secret of [next, old]) assert.doesNotThrow(() => verified(secret, attempt));
  assert.throws(() => verified(newCallbackSecret(), attempt));
});

for (const [header, expectedMs] of [
  ['120', 120_000],
  ['0', 0],
  ['Sat, 21 Nov 2026 10:02:00 GMT', 120_000],
  ['Sat, 21 Nov 2026 09:00:00 GMT', 0],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['', undefined],
  ['9'.repeat(400), undefined],
] as const) {
  test(`Retry-After: "${header.slice(0, 40)}" is ${expectedMs} ms`, async () => {
    const now = () => Date.parse('2026-11-21T10:00:00Z');
    const answer = await posterWith(answering(503, { 'retry-after': header }), { now })();
    assert.deepEqual([answer.status, answer.retryAfterMs], [503, expectedMs]);
  });
}

test('a network fault is an answer with its kind', async () => {
  const answer = await posterWith(() => Promise.reject(new OutboundError('blocked', 'private')))();
  assert.deepEqual([answer.status, answer.error, answer.responseHead], [undefined, 'blocked', undefined]);
});

for (const kind of ['busy', 'aborted'] as const) {
  test(`${kind} is our own doing and no answer`, async () => {
    await assert.rejects(posterWith(() => Promise.reject(new OutboundError(kind, 'ours')))(), { kind });
  });
}

test('what has to wait for a slot costs no body, and every outcome gives the slot back', async () => {
  let release: (answer: PostAnswer) => void = () => {};
  const post = posterWith(() => new Promise((resolve) => (release = resolve)));
  const first = post();
  await new Promise((resolve) => setImmediate(resolve));
  const unwanted = () => Promise.reject(new Error('a body was made'));
  await assert.rejects(post({ body: unwanted }), { kind: 'busy' });
  release({ status: 204, headers: {}, body: Buffer.alloc(0) });
  assert.equal((await first).status, 204);
  await assert.rejects(post({ body: unwanted }), /a body was made/);
  await assert.rejects(post({ body: unwanted }), /a body was made/);
});
