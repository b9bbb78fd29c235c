import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ensureSigningSecrets } from '../../src/tasks/callbacks/signing-secrets.ts';
import { findAccount } from '../../src/accounts/accounts.ts';
import { listProviderJobs } from '../../src/tasks/jobs/provider-jobs.ts';
import { createSecretBox } from '../../src/platform/secrets/secret-box.ts';
import { listTasks } from '../../src/tasks/list/task-list.ts';
import { dataUrl } from '../api/dialects/data-url.ts';
import { type Api, createdTask } from '../support/service/call-api.ts';
import { startCallbackReceiver } from '../support/servers/callback-receiver.ts';
import {
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service/test-service.ts';
import { waitForEnd } from '../support/tasks/tasks.ts';

// A Videogen whose provider is another one, spoken to as OpenRouter.

const input = {
  resolution: { values: ['720p'] },
  duration: { min: 4, max: 5 },
  ratio: { values: ['16:9', '9:16'] },
  generateAudio: {},
  imageUrls: { max: 1 },
  seed: {},
};
const sold = { title: 'M', prices: [{ creditsPerSecond: 10 }] };

describe('a Videogen behind a Videogen, as OpenRouter', () => {
  let folder: string;
  let inner: TestService;
  let outer: TestService;
  let innerAccount: TestAccount;
  let api: Api;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-behind-'));
    const innerModel = { ...sold, model: 'inner-model', aliases: ['studio/inner'], providers: ['preview'], input };
    inner = await startTestService({ VIDEOGEN_MODELS: await catalogue('inner', { models: [innerModel] }) });
    innerAccount = await createTestAccount(inner.database, 1000);
    await writeFile(join(folder, 'inner.key'), innerAccount.key);
    const provider = { kind: 'openai-videos', dialect: 'openrouter', key: { file: './inner.key' }, limit: 2 };
    const providers = { inner: { ...provider, baseUrl: `${inner.baseUrl}/api/v1` } };
    const outerModel = {
      ...sold,
      model: 'outer-model',
      tiers: [[{ provider: 'inner', model: 'studio/inner' }]],
      input,
    };
    outer = await startTestService({
      VIDEOGEN_MODELS: await catalogue('outer', { providers, models: [outerModel] }),
    });
    api = { baseUrl: outer.baseUrl, key: (await createTestAccount(outer.database)).key };
  });
  after(async () => {
    await outer.close();
    await inner.close();
    await rm(folder, { recursive: true });
  });

  async function catalogue(name: string, content: object): Promise<string> {
    const path = join(folder, `${name}.json`);
    await writeFile(path, JSON.stringify(content));
    return path;
  }
  const newestInner = async () => {
    const [task] = await listTasks(inner.database.db, { accountId: innerAccount.accountId, limit: 1 });
    assert.ok(task);
    return task;
  };

  test('passes its fields on, gets the video, and leaves a cost in credits unknown', async () => {
    const fields = { prompt: '[[instant]] a lighthouse', duration: 5, ratio: '9:16', generateAudio: false, seed: 7 };
    const taskId = await createdTask(api, fields, { model: 'outer-model' });
    const task = await waitForEnd(outer.database.db, taskId);
    assert.equal(task.state, 'success', JSON.stringify(task.failure));
    const { param, state } = await newestInner();
    assert.deepEqual([state, param.model], ['success', 'inner-model']);
    assert.deepEqual(param.input, { ...fields, resolution: '720p', imageUrls: [] });
    const [job] = await listProviderJobs(outer.database.db, taskId);
    assert.deepEqual([job?.outcome, job?.costMicros], ['success', undefined]);
    assert.equal((await findAccount(inner.database.db, innerAccount.accountId))?.balance, 1000 - 50);
  });

  test('fails, and is refunded, when the inner one refuses the content', async () => {
    const taskId = await createdTask(api, '[[reject]] a storm', { model: 'outer-model' });
    const { state, failure } = await waitForEnd(outer.database.db, taskId);
    assert.equal(state, 'fail', JSON.stringify(failure));
    assert.equal((await findAccount(inner.database.db, innerAccount.accountId))?.balance, 1000 - 50);
  });

  test('the inner one signs its event as OpenRouter does', async (t) => {
    const receiver = await startCallbackReceiver();
    t.after(() => receiver.close());
    const created = await fetch(`${inner.baseUrl}/api/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${innerAccount.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'studio/inner',
        prompt: '[[instant]] a lighthouse',
        callback_url: `${receiver.url}/done`,
        input_references: [{ type: 'image_url', image_url: { url: await dataUrl() } }],
      }),
    });
    assert.equal(created.status, 202, await created.text());
    const [callback] = await receiver.waitForCallbacks('/done', 1);
    assert.ok(callback);
    const event = JSON.parse(callback.body) as { type: string; data: { unsigned_urls: string[] } }; // or the next lines fail
    assert.equal(event.type, 'video.generation.completed');
    const [link = ''] = event.data.unsigned_urls;
    assert.equal((await fetch(link)).headers.get('content-type'), 'video/mp4');
    const [secret = ''] = await secretsOf(innerAccount.accountId);
    const [, time = '', signature] =
      /^t=(\d+),v1=(\w+)$/.exec(String(callback.headers['x-openrouter-signature'])) ?? [];
    assert.equal(signature, createHmac('sha256', secret).update(`${time},${callback.body}`).digest('hex'));
  });

  async function secretsOf(accountId: string): Promise<readonly string[]> {
    const box = createSecretBox(inner.environment['VIDEOGEN_SECRET'] ?? '');
    return ensureSigningSecrets(inner.database.db, box, accountId);
  }
});
