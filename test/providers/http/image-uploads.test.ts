import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { compileExpression } from '../../../src/catalogue/providers/jsonata-expression.ts';
import type { UpstreamClient } from '../../../src/providers/provider-contract.ts';
import { allFields, allMedia, contents } from '../contract/all-fields.ts';
import { jobRequest, signal } from '../contract/job-request.ts';
import { answering } from '../loopback-client.ts';
import { httpProvider, shippedFile } from './shipped-file.ts';

type Answer = { readonly status: number; readonly json: unknown } | 'lost';

const created: Answer = { status: 200, json: { ErrCode: 0, ErrMsg: 'success', Resp: { video_id: 7 } } };
const stored = (id: number): Answer => ({ status: 200, json: { ErrCode: 0, ErrMsg: 'success', Resp: { img_id: id } } });
const failed = (status: number, code: number): Answer => ({ status, json: { ErrCode: code, ErrMsg: 'no' } });

/** Submits a job with frames to PixVerse, which gives one of the answers to each upload. */
async function submitted(
  t: TestContext,
  uploads: readonly Answer[],
  create: Answer = created,
  { onRequest = () => {}, file = shippedFile('pixverse') } = {},
) {
  const media = await allMedia(t);
  const requests: { path: string; type: string; body: Buffer; timeoutMs: number }[] = [];
  const answers = [...uploads, create];
  const client: UpstreamClient = {
    call: async (_method, path, { body, timeoutMs }) => {
      const { contentType: type = '', bytes = '' } = body ?? {};
      const answer = answers[requests.length];
      requests.push({ path, type, body: Buffer.from(bytes), timeoutMs });
      onRequest();
      if (answer === undefined || answer === 'lost') throw new Error('the connection broke');
      return { status: answer.status, headers: {}, body: Buffer.from(JSON.stringify(answer.json)) };
    },
    download: async () => undefined,
  };
  const provider = httpProvider(file, client, { upstreamModel: 'v6' });
  const input = { ...allFields, imageUrls: [] };
  const request = jobRequest({ input, media: async () => ({ ...media, images: [] }) });
  return { requests, outcome: await provider.submit(request, signal) };
}

describe('an upstream that stores images first', () => {
  test('gets each of them as a form, and the job with what it named them', async (t) => {
    const { requests, outcome } = await submitted(t, [stored(101), stored(102)]);
    assert.equal(outcome.kind, 'accepted');
    assert.deepEqual(
      requests.map(({ path }) => path),
      ['/image/upload', '/image/upload', '/video/transition/generate'],
    );
    const [first, last, create] = requests;
    assert.ok(first);
    assert.ok(first.type.startsWith('multipart/form-data; boundary='));
    assert.match(String(first.body), /name="image"; filename="image-1\.jpg"/);
    assert.ok(first.body.includes(contents.firstFrame) && last?.body.includes(contents.lastFrame));
    const body = JSON.parse(String(create?.body)) as Readonly<Record<string, unknown>>; // a map
    assert.deepEqual([body['first_frame_img'], body['last_frame_img'], body['quality']], [101, 102, '1080p']);
  });

  test('needs no handle of a job in its answers to uploads', async (t) => {
    const pixverse = shippedFile('pixverse');
    const file = { ...pixverse, create: { ...pixverse.create, handle: compileExpression('body.Resp.urls') } };
    const json = { ErrCode: 0, ErrMsg: 'success', Resp: { video_id: 7, urls: { status: '/7' } } };
    const { outcome } = await submitted(t, [stored(101), stored(102)], { status: 200, json }, { file });
    assert.deepEqual(outcome, { kind: 'accepted', id: '7', handle: { status: '/7' } });
  });

  test('gets an upload again that it did not answer', async (t) => {
    const { requests, outcome } = await submitted(t, ['lost', stored(101), failed(500, 1), stored(102)]);
    assert.equal(outcome.kind, 'accepted');
    assert.equal(requests.length, 5);
  });

  test('gets the create and all uploads before it within the time of one create', async (t) => {
    let now = 0;
    t.mock.method(performance, 'now', () => now);
    const pass = () => void (now += 100_000);
    const { requests, outcome } = await submitted(t, ['lost', stored(101), stored(102)], created, { onRequest: pass });
    assert.equal(outcome.kind, 'accepted');
    assert.deepEqual(
      requests.map(({ timeoutMs }) => timeoutMs),
      [600_000, 500_000, 400_000, 300_000],
    );
  });

  test('gets no job without all images: each outcome proves that there is none', async (t) => {
    const lost = await submitted(t, ['lost', 'lost', 'lost']);
    assert.deepEqual([lost.outcome.kind, lost.requests.length], ['not_accepted', 3]);
    const unfit = await submitted(t, [stored(101), failed(400, 400_032)]);
    assert.ok(unfit.outcome.kind === 'refused');
    assert.deepEqual([unfit.outcome.error.kind, unfit.requests.length], ['image', 2]);
    const rejected = await submitted(t, [failed(500, 500_054)]);
    assert.ok(rejected.outcome.kind === 'refused');
    assert.deepEqual([rejected.outcome.error.kind, rejected.requests.length], ['image', 1]);
  });

  test('may have a job when the create itself is not answered', async (t) => {
    const { requests, outcome } = await submitted(t, [stored(101), stored(102)], 'lost');
    assert.deepEqual([outcome.kind, requests.length], ['unknown', 3]);
  });
});

test('an error that a file calls unknown proves nothing, also with a status of 4xx', async () => {
  const errors = [{ code: '409', kind: 'unknown' as const }];
  const file = shippedFile('runway', { error: { code: '$string(status)', message: 'body.error' }, errors });
  const provider = httpProvider(file, answering(409, { error: 'conflict' }));
  assert.equal((await provider.submit(jobRequest(), signal)).kind, 'unknown');
});
