import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import {
  type CallbackToSignAndPost,
  createCallbackSender,
  type UnsignedCallback,
} from '../../../src/tasks/callbacks/post-callback.ts';
import type { AnswerWithIsPublic as Answer } from '../../../src/platform/outbound/body/read-response.ts';
import type { PostOptions } from '../../../src/platform/outbound/guarded-client.ts';
import { OutboundError } from '../../../src/platform/outbound/outbound-error.ts';
import { newCallbackSecret } from '../../../src/platform/outbound/webhook-signature.ts';
import { untilTurn } from '../../support/until-turn.ts';

const taskId = '019abc12-3456-7def-8901-234567890abc';
const body = JSON.stringify({ code: 200, msg: 'success', data: { prompt: 'ünïcode 🎬' } });

const nowSeconds = Math.floor(Date.now() / 1000);

/** The native format adds no headers. */
const native: CallbackToSignAndPost['format'] = { callbackHeaders: () => ({}) };

/** `prepare` replaces a part of what is prepared. */
type CallbackChanges = Partial<CallbackToSignAndPost> & {
  readonly prepare?: () => Promise<Partial<UnsignedCallback>>;
};

type Play = (options: PostOptions) => Promise<Answer>;

type Extra = { readonly secrets?: readonly string[]; readonly now?: () => number };

function posterWith(play: Play, { secrets = [newCallbackSecret()], now = Date.now }: Extra = {}) {
  const poster = createCallbackSender({
    client: { post: (_url, options) => play(options) },
    maxPerAccount: 1,
    now,
  });
  const fixed = { deliveryId: taskId, url: 'http://receiver.example/', format: native, body, secrets };
  const { signal } = new AbortController();
  return ({ prepare, ...callback }: CallbackChanges = {}) =>
    poster.inSlot({ accountId: 'alice', url: fixed.url }, signal, async () =>
      poster.post({ ...fixed, signedAt: now(), ...(await prepare?.()), signal, ...callback }),
    );
}

function answering(status: number, headers: Answer['headers'] = {}): Play {
  return () => Promise.resolve({ status, headers, body: Buffer.from('thanks'), isPublic: true });
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

test('an attempt is signed with the time that it is given, and not with the clock of this machine', async () => {
  const secret = newCallbackSecret();
  let sent: PostOptions | undefined;
  const play: Play = (options) => {
    sent = options;
    return answering(204)(options);
  };
  const post = posterWith(play, { secrets: [secret], now: () => Date.now() + 2 * 3_600_000 });
  await post({ prepare: async () => ({ signedAt: nowSeconds * 1000 + 999 }) });
  assert.ok(sent);
  assert.equal(sent.headers['webhook-timestamp'], String(nowSeconds));
  verified(secret, sent);
});

test('an attempt has the headers of its format, which are made of what is sent and replace none of ours', async () => {
  const secrets = [newCallbackSecret()];
  const sent: PostOptions[] = [];
  const play: Play = (options) => {
    sent.push(options);
    return answering(204)(options);
  };
  const callbackHeaders: CallbackToSignAndPost['format']['callbackHeaders'] = (callback) => ({
    'x-made-of': JSON.stringify(callback),
    'webhook-id': 'other',
  });
  await posterWith(play, { secrets, now: () => nowSeconds * 1000 })({ format: { callbackHeaders } });
  const headers = sent[0]?.headers ?? {};
  assert.deepEqual(JSON.parse(headers['x-made-of'] ?? ''), { taskId, timestampSeconds: nowSeconds, secrets, body });
  assert.equal(headers['webhook-id'], 'msg_019abc1234567def8901234567890abc');
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

test('an attempt is recorded with what was sent and received, and without signatures, cookies and text that the database refuses', async () => {
  const secret = newCallbackSecret();
  const headers = { 'content-type': 'text/plain', 'set-cookie': ['sid=private'], 'x-odd': 'a\0b' };
  const long = '🎬'.repeat(10_000);
  const { exchange } = await posterWith(answering(500, headers), { secrets: [secret] })({
    prepare: async () => ({ body: long }),
  });
  const { requestHeaders, requestBody, isBodyCut, response } = exchange;
  assert.deepEqual([requestBody.length, isBodyCut, requestBody.isWellFormed()], [8_192, true, true]);
  assert.deepEqual(
    requestHeaders.map(([name]) => name),
    ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'],
  );
  assert.deepEqual(requestHeaders.at(-1), ['webhook-signature', '(hidden)']);
  assert.deepEqual(response, {
    headers: [
      ['content-type', 'text/plain'],
      ['set-cookie', '(hidden)'],
      ['x-odd', 'a\u{fffd}b'],
    ],
    isPublic: true,
  });
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`x-${index}`, 'x'.repeat(100)]));
  const { exchange: bounded } = await posterWith(answering(500, many))();
  assert.ok(JSON.stringify(bounded.response).length < 1_500);
});

for (const kind of ['busy', 'aborted'] as const) {
  test(`${kind} is our own doing and no answer`, async () => {
    await assert.rejects(posterWith(() => Promise.reject(new OutboundError(kind, 'ours')))(), { kind });
  });
}

test('what has to wait for a slot costs no body, and every outcome gives the slot back', async () => {
  let release: (answer: Answer) => void = () => {};
  const post = posterWith(() => new Promise((resolve) => (release = resolve)));
  const first = post();
  await new Promise((resolve) => setImmediate(resolve));
  const unwanted = () => Promise.reject(new Error('a body was made'));
  await assert.rejects(post({ prepare: unwanted }), { kind: 'busy' });
  release({ status: 204, headers: {}, body: Buffer.alloc(0), isPublic: true });
  assert.equal((await first).status, 204);
  await assert.rejects(post({ prepare: unwanted }), /a body was made/);
  await assert.rejects(post({ prepare: unwanted }), /a body was made/);
});

/** Callbacks that hang until they are released, with three slots for an account and two for each of its hosts. */
function hangingPoster() {
  const releases: (() => void)[] = [];
  const answer: Answer = { status: 204, headers: {}, body: Buffer.alloc(0), isPublic: true };
  const client = { post: () => new Promise<Answer>((resolve) => releases.push(() => resolve(answer))) };
  const { signal } = new AbortController();
  const poster = createCallbackSender({ client, maxPerAccount: 3, maxPerReceiver: 2 });
  const post = (accountId: string, url: string) =>
    poster.inSlot({ accountId, url }, signal, () =>
      poster.post({
        deliveryId: taskId,
        url,
        format: native,
        body,
        secrets: [newCallbackSecret()],
        signedAt: Date.now(),
        signal,
      }),
    );
  /** Begins a callback and waits until it hangs. */
  const hang = async (accountId: string, url: string) => {
    const before = releases.length;
    const posted = post(accountId, url);
    await untilTurn('the callback to hang', () => releases.length > before);
    return { posted };
  };
  return { post, hang, releases };
}

test('an account holds no more than its slots, whatever hosts it names, and another has its own', async () => {
  const { post, hang } = hangingPoster();
  for (const host of ['a', 'b', 'c']) await hang('mallory', `http://${host}.example/`);
  await assert.rejects(post('mallory', 'http://d.example/'), { kind: 'busy' });
  await hang('alice', 'http://a.example/');
});

test('a dead receiver leaves room for the other receivers of its account', async () => {
  const { post, hang } = hangingPoster();
  await hang('alice', 'http://dead.example/1');
  await hang('alice', 'https://DEAD.example.:8443/2');
  await assert.rejects(post('alice', 'http://dead.example/3'), { kind: 'busy' });
  await hang('alice', 'http://healthy.example/');
});

test('a slot that was released is free again, also after refusals', async () => {
  const { post, hang, releases } = hangingPoster();
  for (let turn = 0; turn < 100; turn += 1) {
    const held = [await hang('alice', 'http://a.example/1'), await hang('alice', 'http://a.example/2')];
    await assert.rejects(post('alice', 'http://a.example/3'), { kind: 'busy' });
    for (const release of releases.splice(0)) release();
    await Promise.all(held.map(({ posted }) => posted));
  }
});
