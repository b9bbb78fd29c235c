import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { type Answer, createTask, recordInfo } from '../../../support/service/call-api.ts';
import {
  type CallbackReceiver,
  type ReceivedCallback,
  startCallbackReceiver,
} from '../../../support/servers/callback-receiver.ts';
import {
  createKieClient,
  isFromKie,
  type KieClient,
  type KieRecord,
  resultUrlsOf,
} from '../../../support/tasks/kie-client.ts';
import {
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../../../support/service/test-service.ts';
import { videogen } from '../../../support/processes/run-videogen.ts';

describe('a client of the API that ours descends from, given another address and key', () => {
  let service: TestService;
  let account: TestAccount;
  let client: KieClient;
  let receiver: CallbackReceiver;
  let webhookKey: string;
  before(async () => {
    service = await startTestService();
    account = await createTestAccount(service.database, 1_000);
    const key = await said('key', 'key', 'create', '--account', account.accountId, '--dialect', 'kie', '--json');
    client = createKieClient({ baseUrl: service.baseUrl, key });
    webhookKey = await said('secret', 'callback-secret', 'show', '--account', account.accountId, '--json');
    receiver = await startCallbackReceiver();
  });
  after(async () => {
    await receiver.close();
    await service.close();
  });

  async function said(name: string, ...args: readonly string[]): Promise<string> {
    const { stdout } = await videogen(service.environment, ...args);
    return String((JSON.parse(stdout) as Record<string, unknown>)[name]); // what --json prints
  }
  const received = async (path: string): Promise<ReceivedCallback> => {
    const [callback] = await receiver.waitForCallbacks(path, 1);
    assert.ok(callback);
    return callback;
  };
  const oursVerifies = ({ headers, body }: ReceivedCallback) => {
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    new Webhook(webhookKey).verify(body, Object.fromEntries(names.map((name) => [name, String(headers[name])])));
    return true;
  };

  test('creates, polls, downloads and verifies its callback, stray fields and all', async () => {
    const taskId = await client.createTask({
      model: 'bytedance/seedance-2-fast',
      callBackUrl: `${receiver.url}/done`,
      callbackUrl: 'not even an address',
      input: {
        prompt: '[[instant]] a lighthouse in the fog',
        callBackUrl: `${receiver.url}/stray`,
        aspect_ratio: '16:9',
        resolution: '720p',
        duration: '4',
        generate_audio: true,
        reference_image_urls: [],
        web_search: false,
        nsfw_checker: true,
        first_frame_url: '',
      },
    });
    const record = await client.waitForEnd(taskId);
    assert.equal(record.state, 'success', JSON.stringify(record));
    assert.equal(record['creditsConsumed'], 132);
    assert.equal(record['model'], 'bytedance/seedance-2-fast');
    assert.deepEqual([record['failCode'], record['failMsg'], record['successFlag']], [null, null, 1]);
    const [url = ''] = resultUrlsOf(record);
    assert.equal((await fetch(url)).headers.get('content-type'), 'video/mp4');

    const callback = await received('/done');
    assert.ok(isFromKie(callback, webhookKey));
    assert.ok(!isFromKie(callback, `${webhookKey}x`), 'another key would not have verified');
    assert.ok(oursVerifies(callback));
    const { code, data } = JSON.parse(callback.body) as { code: number; data: KieRecord }; // as the client would
    assert.equal(code, 200);
    assert.equal(resultUrlsOf(data).length, 1);
    // Links are signed anew at each reading; all else is the record.
    const [sent, read] = [data, record].map((one) => ({ ...one, resultJson: '', response: '' }));
    assert.deepEqual(sent, read);
    assert.deepEqual(
      receiver.received.filter(({ path }) => path === '/stray'),
      [],
    );

    const fresh = await client.ask('POST', '/api/v1/common/download-url', { url: `${url}0` });
    assert.equal(fresh.code, 200, fresh.msg);
    const range = { headers: { range: 'bytes=0-7' } };
    assert.equal((await fetch(String(fresh.data), range)).status, 206, 'a broken link was made good');
  });

  test('is told of a failure by a callback with code 501, and by its credits', async () => {
    const balance = (await client.ask('GET', '/api/v1/chat/credit')).data;
    const input = { prompt: '[[reject]] a storm', duration: 4 };
    const taskId = await client.createTask({
      model: 'bytedance/seedance-2',
      callBackUrl: `${receiver.url}/failed`,
      input,
    });
    const record = await client.waitForEnd(taskId);
    assert.deepEqual(
      ['state', 'resultJson', 'failCode', 'creditsConsumed'].map((name) => record[name]),
      ['fail', '', 'content_rejected', 0],
    );
    const callback = await received('/failed');
    assert.ok(isFromKie(callback, webhookKey) && oursVerifies(callback));
    assert.deepEqual(JSON.parse(callback.body), {
      code: 501,
      msg: record['failMsg'],
      data: { ...record, resultJson: null },
    });
    assert.equal((await client.ask('GET', '/api/v1/chat/credit')).data, balance);
  });

  test('`videogen generate` works with a key of the dialect: charged once, the video saved, the native record told', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'videogen-generate-'));
    try {
      const balance = Number((await client.ask('GET', '/api/v1/chat/credit')).data);
      const out = join(folder, 'film.mp4');
      const flags = ['--base-url', service.baseUrl, '--key', client.key, '--duration', '4', '--out', out, '--json'];
      const { code, stdout, stderr } = await videogen(
        service.environment,
        'generate',
        '[[instant]] a lighthouse',
        ...flags,
      );
      assert.equal(code, 0, stderr);
      const record = JSON.parse(stdout) as Record<string, unknown>; // what --json prints
      assert.deepEqual([record['state'], record['creditsCharged'], record['file']], ['success', 132, out]);
      assert.ok((await stat(out)).size > 1_000);
      assert.equal((await client.ask('GET', '/api/v1/chat/credit')).data, balance - 132);
      const failed = await videogen(service.environment, 'generate', '[[reject]] a storm', ...flags);
      assert.equal(failed.code, 1, failed.stdout);
      assert.match(failed.stderr + failed.stdout, /content_rejected/);
      assert.equal((await client.ask('GET', '/api/v1/chat/credit')).data, balance - 132);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('shares an account: the task decides how its callback speaks, the key how a record reads', async () => {
    const api = { baseUrl: service.baseUrl, key: account.key };
    const created = ({ status, body }: Answer) => {
      assert.equal(status, 200, body.msg);
      return String(body.data['taskId']);
    };
    const request = { model: 'videogen-2.0-fast', input: { prompt: '[[reject]] a storm', duration: 4 } };
    const taskId = created(await createTask(api, { ...request, callBackUrl: `${receiver.url}/native` }));
    const record = await client.waitForEnd(taskId);
    assert.deepEqual([record.state, record['model']], ['fail', 'bytedance/seedance-2-fast']);
    const callback = await received('/native');
    assert.deepEqual(JSON.parse(callback.body), (await recordInfo(api, taskId)).body);
    assert.equal(callback.headers['x-webhook-signature'], undefined);
    assert.ok(oursVerifies(callback));
  });
});
