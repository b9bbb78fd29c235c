import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { auditLedger } from '../../../../src/credits/ledger/ledger-audit.ts';
import { readBalanceAndEntries } from '../../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { reserveFreePort } from '../../../../src/run/embedded/local-ports.ts';
import { listTasks } from '../../../../src/tasks/list/task-list.ts';
import { findTask } from '../../../../src/tasks/task-rows.ts';
import { plainImage } from '../../../support/hostile/hostile-images.ts';
import { startLossyProxy } from '../../../support/proxies/fate-per-request-proxy.ts';
import { allowManyTasks, holdRepeatWindow, mergeRepeats } from '../../../support/service/repeat-merging.ts';
import {
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../../../support/service/test-service.ts';
import { lostCreates } from '../../../support/tier.ts';
import { waitFor } from '../../../support/wait-for.ts';

// Python clients of OpenAI's API with nothing changed but base URL and key. ops/ci/provision.sh installs them.

const python = process.env['VIDEOGEN_TEST_OPENAI_PYTHON'] ?? '';
const skip = !existsSync(python) && 'the Python clients of OpenAI’s API are not installed';
const limitMs = 600_000;
/** LiteLLM would fetch a list of prices first. */
const offline = { LITELLM_LOCAL_MODEL_COST_MAP: 'True' };

type Seen = Readonly<Record<string, unknown>>;

describe('Python clients of OpenAI’s API', { skip }, () => {
  let service: TestService;
  let account: TestAccount;
  let folder: string;
  before(async () => {
    service = await startTestService();
    account = await createTestAccount(service.database, 1_000_000);
    await allowManyTasks(service.database.db, account.accountId);
    folder = await mkdtemp(join(tmpdir(), 'videogen-openai-'));
    await writeFile(join(folder, 'first.png'), await plainImage(640, 360).png().toBuffer());
  });
  after(async () => {
    const violations = await auditLedger(service.database.db);
    await service.close();
    await rm(folder, { recursive: true });
    assert.deepEqual(violations, []);
  });

  async function run(script: string, args: readonly string[] = [], url = service.baseUrl, key = account.key) {
    const env = { ...process.env, ...offline, TEST_IMAGE: join(folder, 'first.png'), OPENAI_API_KEY: key };
    const options = { env: { ...env, OPENAI_BASE_URL: `${url}/v1` }, timeout: limitMs };
    const { stdout } = await promisify(execFile)(python, [`test/api/dialects/openai/${script}`, ...args], options);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as unknown;
  }

  const newest = async () => (await listTasks(service.database.db, { accountId: account.accountId, limit: 1 }))[0];

  test('openai creates, polls, downloads, lists and deletes', async () => {
    const { id, sha256, models, ...seen } = (await run('openai_client.py', ['lifecycle'])) as Seen;
    assert.match(String(sha256), /^[0-9a-f]{64}$/);
    assert.ok(Array.isArray(models) && models.includes('videogen-2.0-fast'));
    assert.deepEqual(seen, {
      status: 'completed',
      size: '1280x720',
      thumbnail: 'ffd8ff',
      listed: true,
      deleted: [true, true, true, true],
      cancelled: ['failed', 'failed', 'failed'],
      deleted_refused: ['NotFoundError', 404, 'task_not_found'],
      size_refused: ['UnprocessableEntityError', 422, 'invalid_request'],
      key_refused: ['AuthenticationError', 401, 'unauthorized'],
    });
    const task = await findTask(service.database.db, String(id));
    assert.deepEqual([task?.state, task?.creditsCharged, task?.creditsRefunded], ['success', 132, 0]);
  });

  test(`openai repeats ${lostCreates} creates whose answers are lost without a second charge`, async (t) => {
    const own = await createTestAccount(service.database, lostCreates * 165);
    await allowManyTasks(service.database.db, own.accountId);
    await holdRepeatWindow(service.database.db);
    let [sent, lost] = [0, 0];
    const proxy = await startLossyProxy(service.baseUrl, ({ headers }) => {
      sent += 1;
      const attempt = Number(headers['x-stainless-retry-count']);
      if (attempt === 2 || (attempt === 1 && sent % 2 === 0)) return 'pass';
      lost += 1;
      return sent % 3 === 0 ? 'break_answer' : 'lose_answer';
    });
    t.after(() => proxy.close());
    const ids = (await run(
      'openai_client.py',
      ['creates', String(lostCreates)],
      proxy.url,
      own.key,
    )) as readonly string[];
    assert.ok(lost >= lostCreates, `${lost} answers were lost`);
    assert.equal(new Set(ids).size, lostCreates);
    const { entries } = await readBalanceAndEntries(service.database.db, { accountId: own.accountId, limit: 1000 });
    const charged = entries.filter(({ kind }) => kind === 'charge').map(({ taskId }) => taskId);
    assert.equal(charged.length, lostCreates);
    assert.deepEqual(new Set(charged), new Set(ids));
  });

  test('LiteLLM as a library makes a video with both of its providers', async () => {
    const { made, refused } = (await run('litellm_client.py')) as {
      made: Readonly<Record<string, Seen>>;
      refused: unknown;
    };
    assert.deepEqual(refused, ['BadRequestError', 422]);
    const sha256 = (await newest())?.result?.sha256;
    for (const [provider, { sha256: hash, ...seen }] of Object.entries(made)) {
      assert.deepEqual(seen, { status: 'completed', size: '1280x720', listed: 1 }, provider);
      assert.match(String(hash), /^[0-9a-f]{64}$/);
    }
    assert.equal(made['hosted_vllm']?.['sha256'], sha256);
  });

  test('LiteLLM’s router repeats creates whose answers are lost; by an API key that merges repeats there is no second charge', async (t) => {
    const own = await createTestAccount(service.database, lostCreates * 165);
    await mergeRepeats(service.database.db, own.accountId);
    let sent = 0;
    const proxy = await startLossyProxy(service.baseUrl, () => ((sent += 1) <= lostCreates ? 'lose_answer' : 'pass'));
    t.after(() => proxy.close());
    const ids = (await run(
      'litellm_client.py',
      ['creates', String(lostCreates)],
      proxy.url,
      own.key,
    )) as readonly string[];
    assert.equal(new Set(ids).size, lostCreates);
    assert.ok(sent >= 2 * lostCreates, String(sent));
    const { balance } = await readBalanceAndEntries(service.database.db, { accountId: own.accountId, limit: 1 });
    assert.equal(balance, 0);
  });

  test('LiteLLM as a proxy before us makes a video for OpenAI’s client', async (t) => {
    const port = await reserveFreePort();
    const params = { model: 'openai/videogen-2.0-fast', api_base: `${service.baseUrl}/v1`, api_key: account.key };
    const config = {
      model_list: [{ model_name: 'videogen', litellm_params: params }],
      general_settings: { master_key: 'sk-test' },
    };
    await writeFile(join(folder, 'litellm.yaml'), JSON.stringify(config));
    const proxy = startLitellm([
      '--config',
      join(folder, 'litellm.yaml'),
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
    ]);
    t.after(() => proxy.kill('SIGKILL'));
    const url = `http://127.0.0.1:${port}`;
    await waitFor('the proxy', async () => {
      assert.equal(proxy.exitCode, null);
      return (await fetch(`${url}/health/liveliness`).catch(() => undefined))?.ok === true ? true : undefined;
    });
    const seen = await run('openai_client.py', ['through_proxy'], url, 'sk-test');
    assert.deepEqual(seen, { status: 'completed', sha256: (await newest())?.result?.sha256 });
  });

  function startLitellm(args: readonly string[]): ChildProcess {
    const { DATABASE_URL: _ours, ...env } = process.env;
    return spawn(join(dirname(python), 'litellm'), args, { env: { ...env, ...offline }, stdio: 'inherit' });
  }
});
