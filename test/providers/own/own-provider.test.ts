import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import type { JobStatus, UpstreamClient } from '../../../src/providers/provider-contract.ts';
import { createOwnProvider } from '../../../src/providers/own/own-provider.ts';
import { type OwnUpstream, startOwnUpstream } from '../../fakes/own-upstream.ts';
import { dataUrl, imageFiles } from '../contract/all-fields.ts';
import { jobOf, jobRequest, lostCall, signal, statusOf } from '../contract/job-request.ts';
import { answering, clientFor, providerDeps } from '../loopback-client.ts';

function providerOf(client: UpstreamClient) {
  const options = { parameters: { steps: 30 } };
  const config = { kind: 'own', baseUrl: 'http://own.example', upstreamModel: 'wan-2.2', options } as const;
  return createOwnProvider(providerDeps(config, client));
}

describe('the request for a job of our own protocol', () => {
  let upstream: OwnUpstream;
  before(async () => {
    upstream = await startOwnUpstream();
  });
  after(() => upstream.close());
  const provider = () => providerOf(clientFor(`http://${upstream.address}`));

  test('contains all that a server needs, and no address of the client', async (t) => {
    const image = await imageFiles(t);
    const resultUpload = { url: 'https://s3.example/incoming', expireTime: 1_794_300_000_000 };
    const store = 'https://media.example';
    const request = jobRequest({
      resultUpload,
      input: withDefaults({
        prompt: 'a fox',
        negativePrompt: 'rain',
        resolution: '1080p',
        ratio: 'adaptive',
        duration: 8,
        imageUrls: ['https://client.example/1'],
        firstFrameUrl: 'https://client.example/2',
        lastFrameUrl: 'https://client.example/3',
        videoUrls: ['https://client.example/4'],
        audioUrls: ['https://client.example/5'],
        seed: 7,
        options: { style: 'anime', steps: 20, loop: true },
      }),
      frames: { firstFrame: image('first'), lastFrame: image('last') },
      images: [image('image')],
      links: { videos: [`${store}/1.mp4`], audios: [`${store}/2.m4a`] },
      deadlineMs: 90_500,
    });
    await provider().submit(request, signal);
    const body = upstream.bodies.at(-1);
    const url = (name: string) => dataUrl('image/jpeg', name);
    assert.deepEqual(body, {
      version: 2,
      model: 'wan-2.2',
      input: {
        prompt: 'a fox',
        negativePrompt: 'rain',
        resolution: '1080p',
        duration: 8,
        ratio: 'adaptive',
        generateAudio: true,
        seed: 7,
        options: { style: 'anime', steps: 20, loop: true },
        width: 1080,
        height: 1920,
      },
      media: {
        firstFrame: url('first'),
        lastFrame: url('last'),
        images: [url('image')],
        videos: [`${store}/1.mp4`],
        audios: [`${store}/2.m4a`],
      },
      parameters: { steps: 30 },
      deadlineSeconds: 91,
      resultUpload,
    });
    assert.equal(provider().clips, 'link');
    const document = await readFile(new URL('../../../../docs/providers/own.md', import.meta.url), 'utf8');
    const [, example = ''] = /```json\n([^`]*)```/.exec(document) ?? [];
    const fields = (value: unknown) =>
      Object.entries(value as Record<string, object>).flatMap(([name, one]) =>
        name === 'input' || name === 'media' ? Object.keys(one) : name,
      );
    assert.deepEqual(fields(JSON.parse(example)).toSorted(), fields(body).toSorted());
  });

  test('has empty lists, no options and a seed of its own for an input without them', async () => {
    const request = jobRequest();
    await provider().submit(request, signal);
    const body = upstream.bodies.at(-1) as {
      readonly input: Readonly<Record<string, unknown>>;
      readonly media: object;
    };
    assert.deepEqual(body.media, { images: [], videos: [], audios: [] });
    const { seed, options } = body.input;
    assert.deepEqual(options, {});
    assert.ok(Number.isInteger(seed) && Number(seed) >= 0 && Number(seed) < 2 ** 31);
  });

  test('is the same when it is repeated, and another job has another seed', async () => {
    const request = jobRequest();
    await provider().submit(request, signal);
    await provider().submit(request, signal);
    await provider().submit(jobRequest({ input: request.input }), signal);
    const [first, second, other] = upstream.bodies.slice(-3);
    assert.deepEqual(second, first);
    assert.notDeepEqual(other, first);
  });

  test('waits for an answer, and reads of it, as much as the page promises', async () => {
    const asked: unknown[] = [];
    const answer = answering(200, {});
    const client: UpstreamClient = {
      ...answer,
      call: (method, path, options) => {
        asked.push([method, options.timeoutMs, options.maxBytes]);
        return answer.call(method, path, options);
      },
    };
    const asking = providerOf(client);
    const request = jobRequest();
    const job = jobOf(request, request.jobKey);
    await asking.submit(request, signal);
    await asking.status([job], signal);
    await asking.cancel?.(job, signal);
    const record = 64 * 1024;
    assert.deepEqual(asked, [
      ['PUT', 600_000, record],
      ['GET', 10_000, record],
      ['DELETE', 15_000, record],
    ]);
    const page = (await readFile('docs/providers/own.md', 'utf8')).replaceAll(/\s+/g, ' ');
    for (const text of ['A record has at most 64 KiB', 'Respond to `GET` within 10 s, to `DELETE` within 15 s'])
      assert.ok(page.includes(text), text);
  });

  test('several jobs are read at a time', async () => {
    const requests = [jobRequest(), jobRequest()];
    for (const request of requests) await provider().submit(request, signal);
    await upstream.books.end(requests[0]?.jobKey ?? '', 'succeeded');
    const jobs = requests.map((request) => jobOf(request, request.jobKey));
    const statuses = await provider().status(jobs, signal);
    assert.deepEqual(
      jobs.map(({ jobKey }) => statuses.get(jobKey)?.state),
      ['succeeded', 'running'],
    );
  });
});

const error = (code: string) => ({ error: { code, message: 'words' } });

describe('an answer to PUT', () => {
  const request = jobRequest();
  type Expected = { readonly kind: string; readonly [name: string]: unknown };
  type Body = object | ReturnType<typeof error>;
  const cases: readonly (readonly [status: number, body: Body, expected: Expected])[] = [
    [200, { id: request.jobKey, status: 'failed' }, { kind: 'accepted', id: request.jobKey }],
    [201, { id: request.jobKey }, { kind: 'unknown' }],
    [200, { id: jobRequest().jobKey, status: 'running' }, { kind: 'unknown' }],
    [400, error('content_rejected'), { kind: 'refused', error: 'content' }],
    [422, error('image_invalid'), { kind: 'refused', error: 'image' }],
    [422, error('input_invalid'), { kind: 'refused', error: 'input' }],
    [413, error('too_large'), { kind: 'refused', error: 'upstream' }],
    [413, error('image_invalid'), { kind: 'refused', error: 'image' }],
    [400, error('constructor'), { kind: 'refused', error: 'upstream' }],
    [404, error('model_unknown'), { kind: 'refused', error: 'upstream' }],
    [422, { detail: 'not the protocol' }, { kind: 'unknown' }],
    [409, error('exists'), { kind: 'unknown' }],
    [500, error('content_rejected'), { kind: 'unknown' }],
    [503, error('busy'), { kind: 'not_accepted', reason: 'busy', retryAfterMs: 3_000 }],
    [503, {}, { kind: 'unknown' }],
  ];
  for (const [status, body, expected] of cases) {
    test(`${status} ${JSON.stringify(body).replaceAll(/[0-9a-f-]{36}/g, 'id')} means ${JSON.stringify(expected)}`, async () => {
      const outcome = await providerOf(answering(status, body, { 'retry-after': '3' })).submit(request, signal);
      const detail = `HTTP ${status}: ${JSON.stringify(body)}`;
      const code = 'error' in body ? body.error.code : undefined;
      const whole = expected.kind === 'accepted' ? expected : { ...expected, detail };
      assert.deepEqual(
        outcome,
        'error' in expected ? { kind: 'refused', error: { kind: expected['error'], code, detail } } : whole,
      );
    });
  }
});

describe('the record of a job', () => {
  const { jobKey, input } = jobRequest();
  const job = { jobKey, id: jobKey, handle: {}, input };
  const cost = { micros: 12, currency: 'EUR', basis: 'reported' } as const;
  const cases: readonly (readonly [record: object, expected: Partial<JobStatus>])[] = [
    [{ status: 'queued', progress: null }, { state: 'queued' }],
    [
      { status: 'running', progress: 12.5 },
      { state: 'running', progress: 12.5 },
    ],
    [
      { status: 'running', progress: 100 },
      { state: 'running', progress: 100 },
    ],
    [{ status: 'running', progress: 101 }, { state: 'running' }],
    [{ status: 'running', progress: -1 }, { state: 'running' }],
    [{ status: 'percolating' }, { state: 'running' }],
    [{ status: 'succeeded', error: null }, { state: 'succeeded' }],
    [
      { status: 'succeeded', uploaded: true },
      { state: 'succeeded', isUploaded: true },
    ],
    [{ status: 'succeeded', uploaded: 'yes' }, { state: 'succeeded' }],
    [
      { status: 'succeeded', cost: { micros: 12, currency: 'EUR' } },
      { state: 'succeeded', cost },
    ],
    [{ status: 'succeeded', cost: { micros: -1, currency: 'EUR' } }, { state: 'succeeded' }],
    [{ status: 'succeeded', cost: { micros: 0.5, currency: 'EUR' } }, { state: 'succeeded' }],
    ...['credits', 'EURO', 'xEUR'].map(
      (currency) => [{ status: 'succeeded', cost: { micros: 1, currency } }, { state: 'succeeded' }] as const,
    ),
    [
      { status: 'failed', error: { code: 'internal' } },
      { state: 'failed', error: { kind: 'upstream', code: 'internal', detail: '' } },
    ],
    [
      { status: 'failed', ...error('internal'), cost: { micros: 12, currency: 'EUR' } },
      { state: 'failed', error: { kind: 'upstream', code: 'internal', detail: 'words' }, cost },
    ],
    [
      { status: 'failed', ...error('content_rejected') },
      { state: 'failed', error: { kind: 'content', code: 'content_rejected', detail: 'words' } },
    ],
    [{ status: 'canceled' }, { state: 'failed', error: { kind: 'upstream', code: 'canceled', detail: '' } }],
    [{ status: 'cancelled' }, { state: 'failed', error: { kind: 'upstream', code: 'canceled', detail: '' } }],
    [{ status: 7 }, { state: 'unclear' }],
    [{ status: 'succeeded', id: jobRequest().jobKey }, { state: 'unclear' }],
  ];
  for (const [record, expected] of cases) {
    test(`${JSON.stringify(record).replaceAll(/[0-9a-f-]{36}/g, 'another')} reads ${JSON.stringify(expected)}`, async () => {
      const read = await statusOf(providerOf(answering(200, { id: jobKey, ...record })), job);
      const { detail: _detail, result: _video, ...status } = { detail: '', result: {}, ...read };
      assert.deepEqual(status, expected);
    });
  }

  for (const [status, body, expected] of [
    [200, { id: jobKey, status: 'canceled' }, 'cancelled'],
    [200, { id: jobKey, status: 'succeeded' }, 'ended'],
    [202, { id: jobKey, status: 'running' }, 'runs_on'],
    [200, { id: jobKey, status: 'percolating' }, 'runs_on'],
    [404, error('not_found'), 'ended'],
    [405, {}, 'runs_on'],
    [401, error('unauthorized'), 'unclear'],
    [500, {}, 'unclear'],
    [200, {}, 'unclear'],
  ] as const) {
    test(`DELETE that is answered ${status} ${JSON.stringify(body).replaceAll(jobKey, 'id')} means ${expected}`, async () => {
      assert.equal(await providerOf(answering(status, body)).cancel(job, signal), expected);
    });
  }

  test('only the error code of the protocol proves that a job was not created', async () => {
    const lost = lostCall(jobRequest({ jobKey }));
    const recover = async (status: number, body: object) =>
      await providerOf(answering(status, body, { 'retry-after': '4' })).recover(lost, signal);
    assert.deepEqual(await recover(404, error('not_found')), { kind: 'not_created' });
    assert.deepEqual(await recover(404, error('route_not_found')), { kind: 'later', afterMs: 4_000 });
    assert.deepEqual(await recover(200, { id: jobRequest().jobKey, status: 'running' }), {
      kind: 'later',
      afterMs: 15_000,
    });
    assert.deepEqual(await recover(200, { id: jobKey, status: 'queued' }), { kind: 'found', id: jobKey });
  });
});
