import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  type Client,
  createClient,
  newIdempotencyKey,
  type ResponseInfo,
  verifyCallback,
  VideogenError,
} from '../../clients/typescript/src/index.ts';
import sharp from 'sharp';
import { checkAndMeasureVideo } from '../../src/media/video/check-and-measure-video.ts';
import { createSecretBox } from '../../src/platform/secrets/secret-box.ts';
import { ensureSigningSecrets } from '../../src/tasks/callbacks/signing-secrets.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../support/servers/callback-receiver.ts';
import {
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service/test-service.ts';

const model = 'videogen-2.0-fast';

describe('the client, against the whole service', () => {
  let service: TestService;
  let account: TestAccount;
  let client: Client;
  let receiver: CallbackReceiver;
  before(async () => {
    service = await startTestService();
    account = await createTestAccount(service.database, 1_000);
    client = createClient({ baseUrl: service.baseUrl, key: account.key });
    receiver = await startCallbackReceiver();
  });
  after(async () => {
    const violations = await auditLedger(service.database.db);
    await receiver.close();
    await service.close();
    assert.deepEqual(violations, []);
  });

  test('a task is created, waited for, downloaded, and its callback verified', async () => {
    const callBackUrl = `${receiver.url}/done`;
    const request = { model, input: { prompt: '[[instant]] A boat', duration: 4 }, callBackUrl };
    const { taskId, creditsCharged } = await client.createTask(request);
    assert.equal(creditsCharged, 132);
    const record = await client.waitForTask(taskId);
    assert.equal(record.state, 'success', record.failMsg ?? '');
    const folder = await mkdtemp(join(tmpdir(), 'videogen-client-'));
    const file = join(folder, 'video.mp4');
    await writeFile(file, Buffer.from(await (await client.download(taskId)).arrayBuffer()));
    assert.equal((await checkAndMeasureVideo(file)).heightPx, 720);
    await rm(folder, { recursive: true });

    const [callback] = await receiver.waitForCallbacks('/done', 1);
    assert.ok(callback);
    const secrets = await ensureSigningSecrets(
      service.database.db,
      createSecretBox(service.settings.secret),
      account.accountId,
    );
    const { body, headers } = callback;
    assert.equal((await verifyCallback({ body, headers, secrets })).record.taskId, taskId);
    await assert.rejects(verifyCallback({ body: body.replace('success', 'succe55'), headers, secrets }), VideogenError);
  });

  test('a wait ends with the response that was held when its task ended', async () => {
    const sent: number[] = [];
    const watched: typeof fetch = (input, init) => {
      sent.push(Date.now());
      return fetch(input, init);
    };
    const waiting = createClient({ baseUrl: service.baseUrl, key: account.key, fetch: watched });
    const { taskId } = await client.createTask({ model, input: { prompt: '[[instant]] [[slow 2s]] b', duration: 4 } });
    const record = await waiting.waitForTask(taskId);
    assert.equal(record.state, 'success');
    // That a held call ends with its task, long before its own limit, is proved by task-waiters.test.ts.
    assert.ok(
      Number(sent.at(-1)) < Number(record.completeTime),
      `sent at ${sent.join()}, end at ${record.completeTime}`,
    );
  });

  test('an answer that is lost after the commit makes one task and one charge', async () => {
    const before_ = (await client.credits()).balance;
    const proxy = await proxyThatLosesAnswers(service.baseUrl, 2);
    const unlucky = createClient({ baseUrl: proxy.url, key: account.key });
    const { taskId } = await unlucky.createTask({ model, input: { prompt: '[[instant]] once', duration: 4 } });
    await proxy.close();
    assert.equal(proxy.passed(), 3, 'the service saw three creates');
    const { tasks } = await client.listTasks({ limit: 100 });
    assert.deepEqual(
      tasks.filter(({ param }) => param.input.prompt.endsWith('once')).map((task) => task.taskId),
      [taskId],
    );
    await client.waitForTask(taskId);
    const { balance, entries } = await client.credits({ limit: 100 });
    assert.equal(balance, before_ - 132);
    assert.equal(entries.filter((entry) => entry.taskId === taskId && entry.kind === 'charge').length, 1);
  });

  test('a cancelled task is refunded; lists page; models name the prices', async () => {
    const { taskId } = await client.createTask({ model, input: { prompt: '[[instant]] [[slow 30s]] c', duration: 4 } });
    const { cancelled, creditsRefunded } = await client.cancelTask(taskId);
    assert.deepEqual([cancelled, creditsRefunded], [true, 132]);
    assert.equal((await client.recordInfo(taskId)).failCode, 'cancelled');
    const { contentDeleteTime } = await client.deleteTask(taskId);
    assert.deepEqual(await client.deleteTask(taskId), { taskId, contentDeleteTime });
    const first = await client.listTasks({ limit: 1 });
    const second = await client.listTasks({ limit: 1, cursor: first.nextCursor ?? '' });
    assert.equal(first.tasks[0]?.taskId, taskId);
    assert.notEqual(second.tasks[0]?.taskId, taskId);
    const { models } = await client.models();
    assert.deepEqual(
      models.map(({ prices: [only] }) => only?.rates[0]?.creditsPerSecond),
      [41, 33],
    );
    const request = { model: 'videogen-2.0', input: { prompt: 'a lighthouse', duration: 4 } } as const;
    assert.equal((await client.priceTask(request)).credits, 164);
  });

  test('a repeated generate returns the video of the same task, which is charged once, as its timeline shows', async () => {
    const request = { model, input: { prompt: '[[instant]] again', duration: 4 } };
    const idempotencyKey = newIdempotencyKey();
    const requestIds = new Set<string | undefined>();
    const onResponse = ({ requestId }: ResponseInfo) => void requestIds.add(requestId);
    const first = await client.generate(request, { idempotencyKey, onResponse });
    assert.ok(requestIds.size >= 2, 'each request has an id of its own');
    const second = await client.generate(request, { idempotencyKey });
    const { taskId } = first.record;
    assert.equal(second.record.taskId, taskId);
    assert.equal((await fetch(second.url)).headers.get('content-type'), 'video/mp4');
    const charges: number[] = [];
    for await (const entry of client.ledger({ taskId, limit: 1 })) charges.push(entry.amount);
    assert.deepEqual(charges, [-132]);
    const { steps, ledger } = await client.timeline(taskId);
    assert.deepEqual([steps[0]?.step, ledger.length], ['accepted', 1]);
  });

  test('an uploaded image is described by the service and accepted in the field that it names', async () => {
    const image = await sharp({ create: { width: 400, height: 300, channels: 3, background: 'teal' } })
      .png()
      .toBuffer();
    const { url, kind, fields } = await client.upload(image, { contentType: 'image/png' });
    assert.deepEqual([kind, fields[0]], ['image', 'imageUrls']);
    const input = { prompt: '[[instant]] @Image1 sails', duration: 4, imageUrls: [url] };
    assert.equal((await client.generate({ model, input })).record.state, 'success');
    const text = new Blob(['no image'], { type: 'image/png' });
    await assert.rejects(client.upload(text), { name: 'VideogenError', code: 422 });
  });

  test('a key is created, used, listed and revoked', async () => {
    const { key, keyId } = await client.createKey({ name: 'robot', scopes: ['tasks:read'] });
    const robot = createClient({ baseUrl: service.baseUrl, key });
    await robot.listTasks();
    await assert.rejects(robot.credits(), { name: 'VideogenError', error: 'scope_missing' });
    const { revokeTime } = await client.revokeKey(keyId);
    assert.equal((await client.listKeys()).keys.find((one) => one.keyId === keyId)?.revokeTime, revokeTime);
    await assert.rejects(robot.listTasks(), { name: 'VideogenError', code: 401 });
  });

  test('refusals are typed: every broken rule, the balance, a bad key', async () => {
    const input = { prompt: '', duration: 99 };
    await assert.rejects(client.createTask({ model, input }), (error) => {
      assert.ok(error instanceof VideogenError);
      assert.deepEqual(
        error.errors.map(({ path }) => path),
        ['input.prompt', 'input.duration'],
      );
      assert.match(error.requestId ?? '', /^[0-9a-f-]{36}$/);
      return error.code === 422;
    });
    const poor = await createTestAccount(service.database, 10);
    await assert.rejects(
      createClient({ baseUrl: service.baseUrl, key: poor.key }).createTask({ model, input: { prompt: 'x' } }),
      { name: 'VideogenError', code: 402, data: { required: 165, balance: 10 } },
    );
    await assert.rejects(createClient({ baseUrl: service.baseUrl, key: 'vg_no' }).models(), { code: 401 });
  });
});

/** Passes requests on and waits for their answers, but breaks the connection instead of giving the first few on. */
async function proxyThatLosesAnswers(target: string, losses: number) {
  let passed = 0;
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const onward = httpRequest(new URL(url ?? '/', target), { method, headers }, (reply) => {
      passed += 1;
      if (passed <= losses) reply.resume().on('end', () => outgoing.destroy());
      else reply.pipe(outgoing.writeHead(reply.statusCode ?? 502, reply.headers));
    });
    incoming.pipe(onward);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return {
    url: `http://127.0.0.1:${port}`,
    passed: () => passed,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}
