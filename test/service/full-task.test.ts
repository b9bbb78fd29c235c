import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import sharp from 'sharp';
import { Webhook } from 'standardwebhooks';
import { checkAndMeasureVideo } from '../../src/media/video/check-and-measure-video.ts';
import { createSecretBox } from '../../src/platform/secrets/secret-box.ts';
import { ensureSigningSecrets } from '../../src/tasks/callbacks/signing-secrets.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { readBalanceAndEntries } from '../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import {
  type Answer,
  type Api,
  createdTask,
  post,
  recordInfo,
  resultUrlsIn,
  waitForRecord,
} from '../support/service/call-api.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../support/servers/callback-receiver.ts';
import {
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

describe('a task, from createTask to its callback', () => {
  let service: TestService;
  let account: TestAccount;
  let api: Api;
  let receiver: CallbackReceiver;
  let webhook: Webhook;
  before(async () => {
    service = await startTestService();
    account = await createTestAccount(service.database, 1_000);
    api = { baseUrl: service.baseUrl, key: account.key };
    const image = await sharp({ create: { width: 600, height: 900, channels: 3, background: '#336699' } })
      .png()
      .toBuffer();
    receiver = await startCallbackReceiver({ image });
    const box = createSecretBox(service.settings.secret);
    const [secret = ''] = await ensureSigningSecrets(service.database.db, box, account.accountId);
    webhook = new Webhook(secret);
  });
  after(async () => {
    const violations = await auditLedger(service.database.db);
    await receiver.close();
    await service.close();
    assert.deepEqual(violations, []);
  });

  const verified = async (path: string) => {
    const [callback] = await receiver.waitForCallbacks(path, 1);
    assert.ok(callback);
    const { headers, body } = callback;
    const signed = { 'webhook-id': '', 'webhook-timestamp': '', 'webhook-signature': '' };
    for (const name of Object.keys(signed)) Object.assign(signed, { [name]: headers[name] });
    assert.doesNotThrow(() => webhook.verify(body, signed));
    assert.throws(() => webhook.verify(`${body} `, signed), 'the signature covers the body');
    return JSON.parse(body) as Answer['body'];
  };

  test('a portrait film of a reference image is generated, charged, called back with a valid signature, and downloads', async () => {
    const callBackUrl = `${receiver.url}/success`;
    const input = { prompt: 'A blue door', ratio: 'adaptive', duration: 4.4, imageUrls: [`${receiver.url}/image.png`] };
    const taskId = await createdTask(api, input, { callBackUrl });
    const record = await waitForRecord(api, taskId);
    assert.equal(record['state'], 'success', String(record['failMsg']));
    assert.equal(record['progress'], 100);
    assert.equal(record['creditsCharged'], 132);
    assert.equal(record['creditsRefunded'], 0);
    const param = { prompt: 'A blue door', resolution: '720p', duration: 4, ratio: 'adaptive', generateAudio: true };
    assert.deepEqual(record['param'], {
      model: 'videogen-2.0-fast',
      input: { ...param, imageUrls: input.imageUrls },
      callBackUrl,
    });
    const callback = await verified('/success');
    assert.deepEqual([callback.code, callback.data['taskId'], callback.data['state']], [200, taskId, 'success']);

    const response = await fetch(String(resultUrlsIn(record)[0]));
    assert.equal(response.headers.get('content-type'), 'video/mp4');
    const file = join(tmpdir(), `${taskId}.mp4`);
    await writeFile(file, Buffer.from(await response.arrayBuffer()));
    const { widthPx, heightPx, durationSeconds, framesPerSecond, hasAudio } = await checkAndMeasureVideo(file);
    assert.deepEqual([widthPx, heightPx, framesPerSecond, hasAudio], [834, 1112, 24, true]);
    assert.ok(Math.abs(durationSeconds - 4) < 0.1, `${durationSeconds} s`);
  });

  test('a task whose image answers 404 fails with its code, is refunded in full and called back', async () => {
    const callBackUrl = `${receiver.url}/failure`;
    const input = { prompt: 'never made', imageUrls: [`${receiver.url}/image.png`, `${receiver.url}/missing.png`] };
    const taskId = await createdTask(api, input, { callBackUrl });
    const record = await waitForRecord(api, taskId);
    assert.deepEqual([record['state'], record['failCode']], ['fail', 'image_unreachable']);
    assert.match(String(record['failMsg']), /input\.imageUrls\[1\]/);
    assert.deepEqual(record['resultJson'], { resultUrls: [] });
    assert.equal(record['creditsRefunded'], 165);
    const callback = await verified('/failure');
    assert.deepEqual([callback.data['state'], callback.data['failCode']], ['fail', 'image_unreachable']);
    const books = await readBalanceAndEntries(service.database.db, { accountId: account.accountId, limit: 10 });
    const entries = books.entries.filter((entry) => entry.taskId === taskId).map(({ kind, amount }) => [kind, amount]);
    assert.deepEqual(entries, [
      ['refund', 165],
      ['charge', -165],
    ]);
  });

  /** Reads a task until `isOver`, while its states come in their order and its progress never goes back. */
  async function follow(taskId: string, isOver: (state: string, figures: ReadonlySet<number>) => boolean) {
    const order = ['waiting', 'queuing', 'generating', 'success'];
    let last = { state: 'waiting', progress: 0 };
    const figures = new Set<number>();
    await waitFor('the end of the reading', async () => {
      const { state, progress } = (await recordInfo(api, taskId)).body.data as { state: string; progress: number };
      assert.ok(order.indexOf(state) >= order.indexOf(last.state), `${last.state} became ${state}`);
      assert.ok(progress >= last.progress, `${last.progress} became ${progress}`);
      last = { state, progress };
      figures.add(progress);
      return isOver(state, figures) ? true : undefined;
    });
  }

  test('a client reads the states in their order and progress that never goes back', async () => {
    // It takes longer than the client needs to see its progress move, however slow the machine is.
    const slow = await createdTask(api, '[[instant]] [[slow 120s]] rising', { model: 'videogen-2.0' });
    await follow(slow, (_state, figures) => figures.size >= 4);
    await post(api, '/api/v1/jobs/cancelTask', { taskId: slow });
    await follow(await createdTask(api, '[[instant]] to its end'), (state) => state === 'success');
  });

  test('another account gets the very answer of a task that does not exist', async () => {
    const taskId = await createdTask(api, '[[instant]] mine');
    const other = { baseUrl: service.baseUrl, key: (await createTestAccount(service.database)).key };
    const [theirs, none] = [
      await recordInfo(other, taskId),
      await recordInfo(other, '01900000-0000-7000-8000-000000000000'),
    ];
    assert.equal(theirs.status, 404);
    assert.deepEqual(theirs.body, none.body);
    await waitForRecord(api, taskId);
  });
});
