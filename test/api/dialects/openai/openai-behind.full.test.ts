import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { auditLedger } from '../../../../src/credits/ledger/ledger-audit.ts';
import { listProviderJobs } from '../../../../src/tasks/jobs/provider-jobs.ts';
import { listTasks } from '../../../../src/tasks/list/task-list.ts';
import { type Api, createdTask, post } from '../../../support/service/call-api.ts';
import { plainImage } from '../../../support/hostile/hostile-images.ts';
import { startRestartableServer } from '../../../fakes/restartable-server.ts';
import {
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../../../support/service/test-service.ts';
import { entryKinds, waitForEnd } from '../../../support/tasks/tasks.ts';
import { waitFor } from '../../../support/wait-for.ts';

// A service whose provider is another one, with the kind `openai-videos`.

describe('Videogen behind Videogen', () => {
  let folder: string;
  let back: TestService;
  let front: TestService;
  let backAccount: TestAccount;
  let api: Api;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-behind-'));
    const sold = { title: 'M', prices: [{ creditsPerSecond: 7 }] };
    // The dialect `generic` sends no seed, so this model chooses one.
    const input = {
      resolution: { values: ['720p'] },
      duration: { min: 4, max: 15 },
      ratio: { values: ['16:9'] },
      generateAudio: { default: true },
      imageUrls: { max: 1 },
      seed: {},
    };
    const seeded = { ...sold, model: 'seeded', input, providers: ['preview'] };
    back = await startTestService({ VIDEOGEN_MODELS: await write('back.json', { models: [seeded] }) });
    backAccount = await createTestAccount(back.database);
    await writeFile(join(folder, 'back.key'), backAccount.key);
    const provider = {
      kind: 'openai-videos',
      dialect: 'generic',
      baseUrl: `${back.baseUrl}/v1`,
      key: { file: './back.key' },
      limit: 4,
    };
    const resold = { ...sold, model: 'resold', tiers: [[{ provider: 'back', model: 'seeded' }]] };
    const catalogue = { providers: { back: provider }, models: [resold] };
    // A mark would make its video differ from that of the back.
    front = await startTestService({ VIDEOGEN_MODELS: await write('front.json', catalogue), MARK_VIDEOS: 'off' });
    api = { baseUrl: front.baseUrl, key: (await createTestAccount(front.database)).key };
  });
  after(async () => {
    const violations = [...(await auditLedger(front.database.db)), ...(await auditLedger(back.database.db))];
    await front.close();
    await back.close();
    await rm(folder, { recursive: true });
    assert.deepEqual(violations, []);
  });

  async function write(name: string, catalogue: object): Promise<string> {
    await writeFile(join(folder, name), JSON.stringify(catalogue));
    return join(folder, name);
  }

  const taskBehind = (prompt: string) =>
    waitFor(`the task of ${prompt} at the back`, async () => {
      const tasks = await listTasks(back.database.db, { accountId: backAccount.accountId, limit: 10 });
      return tasks.find(({ param }) => param.input.prompt === prompt);
    });

  test('a task ends with the video of the back and one charge on each', async (t) => {
    const png = await plainImage(640, 360).png().toBuffer();
    const client = await startRestartableServer(async (_request, response) => void response.end(png));
    t.after(() => client.close());
    const prompt = '[[instant]] a lighthouse';
    const input = { prompt, duration: 4, ratio: '16:9', imageUrls: [`http://${client.address}/a.png`] };
    const taskId = await createdTask(api, input, { model: 'resold' });
    const task = await waitForEnd(front.database.db, taskId);
    assert.equal(task.state, 'success', JSON.stringify(task.failure));
    const behind = await taskBehind(prompt);
    const jobs = await listProviderJobs(front.database.db, taskId);
    assert.deepEqual(
      jobs.map(({ provider, jobId, outcome }) => [provider, jobId, outcome]),
      [['back', behind.taskId, 'success']],
    );
    assert.equal(task.result?.sha256, behind.result?.sha256);
    assert.equal(behind.param.input.imageUrls.length, 1);
    assert.deepEqual(await entryKinds(front.database.db, taskId), ['charge']);
    assert.deepEqual(await entryKinds(back.database.db, behind.taskId), ['charge']);
  });

  test('a cancelled task is cancelled and refunded on both', async () => {
    const prompt = '[[slow 600s]] never ready';
    const taskId = await createdTask(api, prompt, { model: 'resold' });
    const behind = await taskBehind(prompt);
    await post(api, '/api/v1/jobs/cancelTask', { taskId });
    assert.equal((await waitForEnd(back.database.db, behind.taskId)).failure?.failCode, 'cancelled');
    assert.deepEqual(await entryKinds(front.database.db, taskId), ['charge', 'refund']);
    assert.deepEqual(await entryKinds(back.database.db, behind.taskId), ['charge', 'refund']);
  });
});
