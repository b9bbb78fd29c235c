import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { videoDialects } from '../../../src/catalogue/file/provider-schema.ts';
import type { UpstreamErrorReason } from '../../../src/providers/provider-contract.ts';
import type { DialectName } from '../../../src/providers/openai-videos/videos-dialects.ts';
import { createVideosProvider } from '../../../src/providers/openai-videos/videos-provider.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { jobOf, jobRequest, lostCall, signal, statusOf } from '../contract/job-request.ts';
import { answering, clientFor } from '../loopback-client.ts';
import { key, stage } from './videos-stage.ts';

type Said =
  | { readonly kind: 'refused'; readonly error: UpstreamErrorReason }
  | { readonly kind: 'not_accepted'; readonly reason: 'operator' | 'busy' }
  | { readonly kind: 'unknown' };

describe('what a refusal of a create means', () => {
  const refused = (kind: UpstreamErrorReason['kind'], code: string, detail: string) =>
    ({ kind: 'refused', error: { kind, code, detail } }) as const;
  const cases: readonly (readonly [DialectName, number, object, Said])[] = [
    ['vllm-omni', 422, { detail: [{ loc: ['body', 'size'] }] }, refused('input', '', '[{"loc":["body","size"]}]')],
    [
      'vllm-omni',
      400,
      { detail: 'Prompt blocked by the safety checker' },
      refused('content', '', 'Prompt blocked by the safety checker'),
    ],
    ['vllm-omni', 404, { detail: 'The model does not exist' }, { kind: 'not_accepted', reason: 'operator' }],
    ['vllm-omni', 500, { detail: 'Internal Server Error' }, { kind: 'unknown' }],
    [
      'generic',
      400,
      { error: { code: 'moderation_blocked', message: 'no' } },
      refused('content', 'moderation_blocked', 'no'),
    ],
    ['generic', 413, { error: { code: 'too_large', message: 'no' } }, refused('input', 'too_large', 'no')],
    ['generic', 400, { detail: null }, { kind: 'unknown' }],
    [
      'generic',
      409,
      { error: { code: 'conflict', message: 'no' } },
      refused('upstream', 'conflict', 'HTTP 409: {"error":{"code":"conflict","message":"no"}}'),
    ],
    ['openrouter', 402, { error: { code: 402, message: 'credits' } }, { kind: 'not_accepted', reason: 'operator' }],
    ['openrouter', 403, { error: { code: 403, message: 'key' } }, { kind: 'not_accepted', reason: 'operator' }],
    [
      'openrouter',
      403,
      { error: { code: 403, message: 'flagged', metadata: { reasons: ['violence'] } } },
      refused('content', 'moderated', 'flagged'),
    ],
    ['openrouter', 429, { error: { code: 429, message: 'slow' } }, { kind: 'not_accepted', reason: 'busy' }],
    [
      'openrouter',
      429,
      { error: { code: 429, message: 'slow', metadata: { reasons: ['too many'] } } },
      { kind: 'not_accepted', reason: 'busy' },
    ],
    ['openrouter', 503, { error: { code: 503, message: 'no provider' } }, { kind: 'unknown' }],
  ];
  for (const [dialect, status, body, expected] of cases) {
    test(`${status} ${JSON.stringify(body)} of ${dialect}`, async (t) => {
      const { upstream, provider } = await stage(t, dialect);
      upstream.refuse(status, body);
      const detail = `HTTP ${status}: ${JSON.stringify(body)}`;
      const whole = expected.kind === 'refused' ? expected : { ...expected, detail };
      assert.deepEqual(await provider.submit(jobRequest(), signal), whole);
    });
  }
});

describe('a job', () => {
  for (const dialect of videoDialects) {
    test(`of ${dialect} runs, ends, and its video comes whole`, async (t) => {
      const { upstream, provider, begin } = await stage(t, dialect);
      const { job, status } = await begin();
      const running = await status();
      assert.ok(running.state === 'running' || running.state === 'queued');
      await upstream.books.end(job.id, 'succeeded');
      const ended = await status();
      const cost = dialect === 'openrouter' && { cost: { micros: 500_000, currency: 'USD', basis: 'reported' } };
      assert.ok(ended.state === 'succeeded');
      assert.deepEqual({ ...ended, result: undefined }, { state: 'succeeded', result: undefined, ...cost });
      const workFolder = await temporaryFolder(t);
      const { path } = await provider.result(job, undefined, { workFolder, signal });
      assert.deepEqual(await readFile(path), await readFile(upstream.videoPath));
    });

    test(`of ${dialect} that failed shows the reason to operators`, async (t) => {
      const { upstream, begin } = await stage(t, dialect);
      const { job, status } = await begin();
      await upstream.books.end(job.id, 'failed');
      const ended = await status();
      assert.ok(ended.state === 'failed');
      assert.match(ended.error.detail, /out of memory|the upstream failed/);
      assert.equal(ended.error.kind, 'upstream');
    });

    test(`of ${dialect} whose output was moderated is the content's fault`, async (t) => {
      const { upstream, begin } = await stage(t, dialect);
      const { status } = await begin();
      upstream.embellish({ status: 'failed', error: { code: 'content_policy_violation', message: 'no' } });
      const ended = await status();
      assert.ok(ended.state === 'failed');
      assert.equal(ended.error.kind, 'content');
    });

    test(`of ${dialect} with another id in its record is no verdict`, async (t) => {
      const { upstream, begin } = await stage(t, dialect);
      const { status } = await begin();
      upstream.embellish({ id: 'another', status: 'completed' });
      assert.equal((await status()).state, 'unclear');
    });
  }

  for (const code of [400, 404, 500]) {
    test(`of vLLM-Omni whose record comes with HTTP ${code} has failed`, async (t) => {
      const { upstream, begin } = await stage(t, 'vllm-omni');
      const { job, status } = await begin();
      await upstream.books.end(job.id, 'failed');
      upstream.embellish({ error: { code, message: 'out of memory' } });
      assert.deepEqual(await status(), {
        state: 'failed',
        error: { kind: 'upstream', code: String(code), detail: 'out of memory' },
      });
    });
  }

  test('whose record comes with HTTP 500 and no final status is no verdict', async (t) => {
    const { upstream, begin } = await stage(t, 'vllm-omni');
    const { status } = await begin();
    upstream.fail(500);
    assert.equal((await status()).state, 'unclear');
  });

  test('is not missing because the base URL is wrong', async (t) => {
    const { upstream, deps, begin } = await stage(t, 'vllm-omni');
    const { job } = await begin();
    const wrong = createVideosProvider({ ...deps, client: clientFor(`http://${upstream.address}/v2`, key) });
    assert.equal((await statusOf(wrong, job)).state, 'unclear');
  });

  test('of SGLang with cloud storage is downloaded from where its record says', async (t) => {
    const { upstream, deps, begin } = await stage(t, 'sglang');
    const { job } = await begin();
    await upstream.books.end(job.id, 'succeeded');
    // The same server under another path stands for the storage.
    upstream.embellish({ url: `http://${upstream.address}/v1/videos/${job.id}/content?from=storage` });
    const asked: string[] = [];
    const { client } = deps;
    const download: typeof client.download = async (url, path, options) => {
      asked.push(url);
      await client.download(url, path, options);
    };
    const spy = createVideosProvider({ ...deps, client: { ...client, download } });
    const workFolder = await temporaryFolder(t);
    await spy.result(job, undefined, { workFolder, signal });
    assert.match(asked[0] ?? '', /from=storage$/);
  });
});

describe('the record of a job', () => {
  const job = jobOf(jobRequest(), 'job-1');
  const failed = (code: string, detail = '', kind = 'upstream') => ({ state: 'failed', error: { kind, code, detail } });
  const video = { state: 'succeeded', result: { url: '/videos/job-1/content' } };
  const cost = { micros: 123_457, currency: 'USD', basis: 'reported' };
  const cases: readonly (readonly [record: object, expected: object])[] = [
    ...['queued', 'pending'].map((status) => [{ status }, { state: 'queued' }] as const),
    ...['in_progress', 'processing', 'running'].map((status) => [{ status }, { state: 'running' }] as const),
    ...['completed', 'succeeded'].map((status) => [{ status }, video] as const),
    ...['failed', 'cancelled', 'canceled', 'expired', 'deleted'].map((status) => [{ status }, failed(status)] as const),
    ...[0, 40, 100].map(
      (progress) =>
        [
          { status: 'running', progress },
          { state: 'running', progress },
        ] as const,
    ),
    ...[-1, 101, '40'].map((progress) => [{ status: 'running', progress }, { state: 'running' }] as const),
    [{ status: 'failed', error: 'out of memory' }, failed('failed', 'out of memory')],
    [{ status: 'failed', error: { code: 'oom', message: 'no memory' } }, failed('oom', 'no memory')],
    [{ status: 'failed', error: { code: null, message: 'no memory' } }, failed('failed', 'no memory')],
    [{ status: 'failed', error: { code: 500, message: 'no memory' } }, failed('500', 'no memory')],
    [{ status: 'failed', error: null }, failed('failed')],
    ...[
      'blocked: nsfw',
      'content policy',
      'Content_Policy',
      'moderated',
      'Safety system',
      'sensitive words',
      'Sentinel',
    ]
      .concat(`${'x'.repeat(996)}nsfw`)
      .map((message) => [{ status: 'failed', error: { message } }, failed('failed', message, 'content')] as const),
    [{ status: 'failed', error: { message: `${'x'.repeat(997)}nsfw` } }, failed('failed', `${'x'.repeat(997)}nsfw`)],
    [{ status: 'failed', error: { code: 'sentinel_block', message: 'no' } }, failed('sentinel_block', 'no', 'content')],
    [
      { status: 'completed', usage: { cost: 0.123_456_7 } },
      { ...video, cost },
    ],
    [
      { status: 'failed', usage: { cost: 0.123_456_7 } },
      { ...failed('failed'), cost },
    ],
    [{ status: 'completed', usage: { cost: -1 } }, video],
  ];
  for (const [record, expected] of cases)
    test(`${JSON.stringify(record).slice(0, 120)} reads ${JSON.stringify(expected).slice(0, 120)}`, async (t) => {
      const { deps } = await stage(t, 'generic');
      const warn = (event: string, detail: string) => assert.fail(`${event}: ${detail}`);
      const provider = createVideosProvider({ ...deps, client: answering(200, { id: job.id, ...record }), warn });
      assert.deepEqual(await statusOf(provider, job), expected);
    });
});

describe('a cancellation', () => {
  for (const [status, body, expected] of [
    [200, { id: 'job-1', status: 'cancelled' }, 'cancelled'],
    [200, { id: 'job-1', status: 'canceled' }, 'cancelled'],
    [200, { id: 'job-1', status: 'completed' }, 'runs_on'],
    [404, { error: { message: 'Video not found' } }, 'ended'],
    [404, { detail: 'Not Found' }, 'runs_on'],
    [400, { error: { message: 'Video not found' } }, 'runs_on'],
    [429, { error: { message: 'slow' } }, 'unclear'],
    [500, {}, 'unclear'],
  ] as const)
    test(`that the generic dialect answers with ${status} ${JSON.stringify(body)} is ${expected}`, async (t) => {
      const { deps } = await stage(t, 'generic');
      const provider = createVideosProvider({ ...deps, client: answering(status, body) });
      assert.equal(await provider.cancel(jobOf(jobRequest(), 'job-1'), signal), expected);
    });

  const outcomes = { 'vllm-omni': 'cancelled', sglang: 'runs_on', openrouter: 'runs_on', generic: 'runs_on' } as const;
  for (const dialect of videoDialects) {
    test(`at ${dialect} reports what it did`, async (t) => {
      const { upstream, provider, begin } = await stage(t, dialect);
      const { job } = await begin();
      assert.equal(await provider.cancel(job, signal), outcomes[dialect]);
      assert.equal(upstream.books.find(job.id)?.state, dialect === 'vllm-omni' ? 'canceled' : 'running');
    });
  }
});

describe('a create whose answer was lost', () => {
  test('is found at vLLM-Omni by its prompt, unless another row has it', async (t) => {
    const { begin, lost } = await stage(t, 'vllm-omni');
    const { request, job } = await begin();
    assert.deepEqual(await lost(request), { kind: 'found', id: job.id });
    // The pause grows with the age of the create, which a slow machine would add to.
    const taken = await lost(request, { claimed: async () => new Set([job.id]), intendedAt: Date.now() + 30_000 });
    assert.deepEqual(taken, { kind: 'later', afterMs: 2_000 });
  });

  test('is not taken for a job of an hour ago with the same prompt', async (t) => {
    const { begin, lost } = await stage(t, 'vllm-omni');
    const { request } = await begin();
    assert.equal((await lost(request, { intendedAt: Date.now() + 3_600_000 })).kind, 'later');
  });

  test('may be hidden by a list of a hundred newer jobs that does not say whether it goes on', async (t) => {
    const { deps } = await stage(t, 'vllm-omni');
    const request = jobRequest();
    const now = Math.floor(Date.now() / 1000);
    const listed = async (others: number, more: object = {}) => {
      const data = Array.from({ length: others }, (_, index) => ({
        id: `x-${index}`,
        prompt: 'other',
        created_at: now,
      }));
      data.push({ id: 'job-1', prompt: request.input.prompt, created_at: now });
      const provider = createVideosProvider({ ...deps, client: answering(200, { data, ...more }) });
      return (await provider.recover(lostCall(request), signal)).kind;
    };
    assert.deepEqual([await listed(98), await listed(99)], ['found', 'later']);
    assert.deepEqual([await listed(99, { has_more: false }), await listed(1, { has_more: true })], ['found', 'later']);
  });

  for (const dialect of ['sglang', 'openrouter', 'generic'] as const) {
    test(`is unknown at ${dialect}, which shows no prompts`, async (t) => {
      const { begin, lost } = await stage(t, dialect);
      const { request } = await begin();
      assert.equal((await lost(request)).kind, 'unknown');
    });
  }
});

/** Where relays answer the id of a job, and how its record has it. */
const relayIds: Readonly<Record<string, (id: string | number, rest: object) => object>> = {
  task_id: (id, rest) => ({ task_id: id, ...rest }),
  generation_id: (id, rest) => ({ generation_id: id, ...rest }),
  taskId: (id, rest) => ({ taskId: id, ...rest }),
  uuid: (id, rest) => ({ uuid: id, ...rest }),
  request_id: (id, rest) => ({ request_id: id, ...rest }),
  'data.id': (id, rest) => ({ code: 200, data: { id, ...rest } }),
  'data.task_id': (id, rest) => ({ request_id: 'of the request', data: { task_id: id, ...rest } }),
  'result.id': (id, rest) => ({ ...rest, result: { id } }),
};

for (const [name, recordOf] of Object.entries(relayIds))
  test(`the job of a relay that answers ${name} instead of id is followed, and operators are told once`, async (t) => {
    const { deps } = await stage(t, 'generic');
    const warned: unknown[] = [];
    const call: typeof deps.client.call = async (method) => {
      const status = method === 'POST' ? 'queued' : 'completed';
      const record = recordOf('job-1', { status, url: 'http://relay.example/video.mp4' });
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(record)) };
    };
    const warn: typeof deps.warn = (...words) => warned.push(words);
    const provider = createVideosProvider({ ...deps, client: { ...deps.client, call }, warn });
    const request = jobRequest();
    for (let times = 0; times < 2; times += 1)
      assert.deepEqual(await provider.submit(request, signal), { kind: 'accepted', id: 'job-1' });
    assert.deepEqual(warned, [['job id found under another name', name]]);
    assert.equal((await statusOf(provider, jobOf(request, 'job-1'))).state, 'succeeded');
  });

test('an id that cannot be part of an address is refused', async (t) => {
  const { deps } = await stage(t, 'generic');
  const kindOf = async (id: string) =>
    (await createVideosProvider({ ...deps, client: answering(200, { id }) }).submit(jobRequest(), signal)).kind;
  for (const id of ['a.b:c=d~e-f_1', '-', '_.', '7']) assert.equal(await kindOf(id), 'accepted', id);
  for (const id of ['a/b', 'a b', '.a', '..', 'a?b', 'a#b', 'a%2Fb', '\u00e9'])
    assert.equal(await kindOf(id), 'unknown', id);
});

test('an id that is a number names its job in digits', async (t) => {
  const { deps } = await stage(t, 'generic');
  const body = Buffer.from(JSON.stringify({ id: 1_794_300_000_123, status: 'completed' }));
  const call: typeof deps.client.call = async () => ({ status: 200, headers: {}, body });
  const provider = createVideosProvider({ ...deps, client: { ...deps.client, call } });
  const request = jobRequest();
  assert.deepEqual(await provider.submit(request, signal), { kind: 'accepted', id: '1794300000123' });
  assert.equal((await statusOf(provider, jobOf(request, '1794300000123'))).state, 'succeeded');
});
