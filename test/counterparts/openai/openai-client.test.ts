import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import sharp from 'sharp';
import { ensureSigningSecrets } from '../../../src/tasks/callbacks/signing-secrets.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { createSecretBox } from '../../../src/platform/secrets/secret-box.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../../support/servers/callback-receiver.ts';
import {
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../../support/service/test-service.ts';
import { entryKinds } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

// OpenAI's own client with nothing changed but base URL and key, from a create to the deletion of a real video.

const model = 'videogen-2.0-fast';

describe("OpenAI's own client", () => {
  let service: TestService;
  let account: TestAccount;
  let receiver: CallbackReceiver;
  let openai: OpenAI;
  before(async () => {
    service = await startTestService();
    account = await createTestAccount(service.database);
    receiver = await startCallbackReceiver();
    openai = new OpenAI({ apiKey: account.key, baseURL: `${service.baseUrl}/v1` });
  });
  after(async () => {
    const violations = await auditLedger(service.database.db);
    await receiver.close();
    await service.close();
    assert.deepEqual(violations, []);
  });

  const ended = (id: string) =>
    waitFor(`the end of ${id}`, async () => {
      const video = await openai.videos.retrieve(id);
      return video.status === 'queued' || video.status === 'in_progress' ? undefined : video;
    });

  const callbackTo = async (path: string) => {
    const [callback] = await receiver.waitForCallbacks(path, 1);
    assert.ok(callback);
    const box = createSecretBox(service.settings.secret);
    const [secret] = await ensureSigningSecrets(service.database.db, box, account.accountId);
    const headers = new Headers(Object.entries(callback.headers).map(([name, value]) => [name, String(value)]));
    await assert.rejects(openai.webhooks.unwrap(`${callback.body} `, headers, secret));
    const event = await openai.webhooks.unwrap(callback.body, headers, secret);
    return [event.type, event.data];
  };

  test('makes, downloads and deletes a video from a file, and verifies its webhook', async () => {
    const jpeg = await sharp({ create: { width: 640, height: 360, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
    const input_reference = await toFile(jpeg, 'first.jpg', { type: 'image/jpeg' });
    // The client's type does not have the field.
    const callback = { callback_url: `${receiver.url}/made` };
    const prompt = '[[instant]] a lighthouse';
    const seconds = '4';
    const request = { model, prompt, seconds, size: '1280x720', input_reference, ...callback } as const;
    const created = await openai.videos.create(request);
    assert.deepEqual([created.object, created.status, created.seconds], ['video', 'queued', '4']);
    const video = await ended(created.id);
    assert.deepEqual([video.status, video.progress, video.error], ['completed', 100, null]);
    assert.deepEqual([video.prompt, video.seconds, video.size], [prompt, '4', '1280x720']);
    const task = await findTask(service.database.db, created.id);
    assert.deepEqual([task?.param.input.imageUrls.length, task?.creditsCharged], [1, 132]);

    const content = await openai.videos.downloadContent(created.id);
    assert.equal(content.headers.get('content-type'), 'video/mp4');
    const bytes = Buffer.from(await content.arrayBuffer());
    assert.equal(createHash('sha256').update(bytes).digest('hex'), task?.result?.sha256);
    const thumbnail = await openai.videos.downloadContent(created.id, { variant: 'thumbnail' });
    const poster = await sharp(Buffer.from(await thumbnail.arrayBuffer())).metadata();
    assert.deepEqual([poster.format, poster.width > 0], ['jpeg', true]);
    await assert.rejects(
      openai.videos.downloadContent(created.id, { variant: 'spritesheet' }),
      (error) => error instanceof OpenAI.BadRequestError && error.code === 'variant_not_offered',
    );
    assert.deepEqual(await callbackTo('/made'), ['video.completed', { id: created.id }]);

    const deleted = { id: created.id, object: 'video.deleted', deleted: true };
    assert.deepEqual(await openai.videos.delete(created.id), deleted);
    assert.deepEqual(await openai.videos.delete(created.id), deleted, 'a repeated request changes nothing');
    await assert.rejects(openai.videos.retrieve(created.id), OpenAI.NotFoundError);
    await assert.rejects(openai.videos.downloadContent(created.id), OpenAI.NotFoundError);
    assert.deepEqual(await entryKinds(service.database.db, created.id), ['charge']);
  });

  test('cancels a running video, which is refunded, fails, and is called back', async () => {
    const callback = { callback_url: `${receiver.url}/cancelled` };
    const { id } = await openai.videos.create({ model, prompt: '[[slow 60s]] never ready', ...callback });
    assert.equal((await openai.videos.delete(id)).deleted, true);
    const video = await openai.videos.retrieve(id);
    assert.deepEqual([video.status, video.error?.code], ['failed', 'cancelled']);
    assert.deepEqual(await entryKinds(service.database.db, id), ['charge', 'refund']);
    await assert.rejects(openai.videos.downloadContent(id), OpenAI.ConflictError);
    assert.deepEqual(await callbackTo('/cancelled'), ['video.failed', { id }]);
  });

  test('lists every video once over several pages, in both orders, and the models', async () => {
    const other = await createTestAccount(service.database);
    const client = new OpenAI({ apiKey: other.key, baseURL: `${service.baseUrl}/v1` });
    const made: string[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      made.push((await client.videos.create({ model, prompt: `[[instant]] ${name}` })).id);
    }
    for (const [order, expected] of [
      ['asc', made],
      ['desc', made.toReversed()],
    ] as const) {
      const listed: string[] = [];
      for await (const { id } of client.videos.list({ limit: 2, order })) listed.push(id);
      assert.deepEqual(listed, expected);
    }
    const names: string[] = [];
    for await (const { id } of client.models.list()) names.push(id);
    assert.ok(names.includes(model) && names.includes('bytedance/seedance-2-fast'), names.join());
    assert.equal((await client.models.retrieve('bytedance/seedance-2-fast')).owned_by, model);
    await assert.rejects(client.models.retrieve('unknown'), OpenAI.NotFoundError);
    await Promise.all(made.map((id) => client.videos.delete(id)));
  });
});
