import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

const model = 'videogen-2.0-fast';
let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

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
