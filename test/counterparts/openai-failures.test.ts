import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { plainImage } from '../support/hostile-images.ts';
import { auditLedger } from '../../src/credits/ledger-audit.ts';
import { readBooks } from '../../src/credits/credits.ts';
import { type Fate, startLossyProxy } from '../support/lossy-proxy.ts';
import { type HttpService, startHttpService } from '../support/http-service.ts';

const model = 'videogen-2.0-fast';
let service: HttpService;
before(async () => {
  service = await startHttpService({ createRate: { quota: 1_000, windowMs: 3_600_000 } });
});
after(async () => {
  const violations = await auditLedger(service.database.db);
  await service.close();
  assert.deepEqual(violations, []);
});

const clientOf = (apiKey: string, url = service.url) => new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });

describe("OpenAI's own client reads our refusals as its own errors", () => {
  const refusals = {
    insufficient_credits: [OpenAI.APIError, 402, (openai: OpenAI) => openai.videos.create({ model, prompt: 'x' })],
    invalid_request: [
      OpenAI.UnprocessableEntityError,
      422,
      (openai: OpenAI) => openai.videos.create({ model, prompt: 'x', size: '1792x1024' }),
    ],
    task_not_found: [OpenAI.NotFoundError, 404, (openai: OpenAI) => openai.videos.retrieve('video_unknown')],
    not_offered: [OpenAI.InternalServerError, 501, (openai: OpenAI) => openai.videos.remix('x', { prompt: 'y' })],
  } as const;
  for (const [code, [type, status, refused]] of Object.entries(refusals)) {
    test(`${status} ${code}`, async () => {
      const { key } = await service.newAccount(1);
      await assert.rejects(refused(clientOf(key)), (error) => {
        assert.ok(error instanceof type);
        assert.deepEqual([error.status, error.code], [status, code]);
        assert.ok(error.message.length > 10 && error.requestID, error.message);
        return true;
      });
    });
  }

  test('401 unauthorized', async () => {
    await assert.rejects(clientOf('sk-none').videos.list(), OpenAI.AuthenticationError);
  });

  test('403 scope_missing', async () => {
    const { key } = await service.newAccount(1, ['tasks:read']);
    await assert.rejects(clientOf(key).videos.create({ model, prompt: 'x' }), OpenAI.PermissionDeniedError);
  });

  test('409 while the video is not completed', async () => {
    const openai = clientOf((await service.newAccount(1_000)).key);
    const { id } = await openai.videos.create({ model, prompt: 'x' });
    await assert.rejects(openai.videos.downloadContent(id), OpenAI.ConflictError);
  });

  test('429 rate_limited', async () => {
    const slow = await startHttpService({
      database: service.database,
      createRate: { quota: 1, windowMs: 3_600_000 },
    });
    try {
      const openai = clientOf((await slow.newAccount(1_000)).key, slow.url);
      await openai.videos.create({ model, prompt: 'x' });
      await assert.rejects(openai.videos.create({ model, prompt: 'x' }), OpenAI.RateLimitError);
    } finally {
      await slow.close();
    }
  });
});

test('200 creates of which most answers are lost: each yields its own video, and none is charged twice', async (t) => {
  const fates: Readonly<Record<string, readonly Fate[]>> = {
    '0': ['pass', 'lose_answer', 'lose_request', 'lose_answer', 'lose_answer'],
    '1': ['pass', 'lose_answer', 'lose_request'],
  };
  const met: Fate[] = [];
  const proxy = await startLossyProxy(service.url, ({ headers }) => {
    const ofAttempt = fates[String(headers['x-stainless-retry-count'])] ?? ['pass'];
    const fate = ofAttempt[met.length % ofAttempt.length] ?? 'pass';
    met.push(fate);
    return fate;
  });
  t.after(() => proxy.close());
  const { accountId, key } = await service.newAccount(200 * 165);
  const openai = new OpenAI({ apiKey: key, baseURL: `${proxy.url}/v1` });
  const input_reference = await toFile(await plainImage(300, 300).png().toBuffer(), 'first.png', { type: 'image/png' });
  const create = async (index: number) => {
    // Some carry a file, which becomes the same upload at each attempt.
    const file = index % 20 === 0 ? { input_reference } : {};
    return (await openai.videos.create({ model, prompt: `lighthouse ${index}`, ...file })).id;
  };
  const ids: string[] = [];
  for (let start = 0; start < 200; start += 100) {
    ids.push(...(await Promise.all(Array.from({ length: 100 }, (_, index) => create(start + index)))));
  }
  assert.equal(new Set(ids).size, 200);
  const cut = met.filter((fate) => fate === 'lose_answer').length;
  assert.ok(cut >= 100, `${cut} answers were lost`);
  const { balance, entries } = await readBooks(service.database.db, { accountId, limit: 500 });
  assert.equal(balance, 0);
  assert.deepEqual(new Set(entries.filter(({ kind }) => kind === 'charge').map(({ taskId }) => taskId)), new Set(ids));
});
