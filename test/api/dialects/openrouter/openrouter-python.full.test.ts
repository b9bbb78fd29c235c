import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { pythonWith } from '../../../support/processes/installed-packages.ts';
import { mergeRepeats } from '../../../support/service/repeat-merging.ts';
import { type FinishingService, startFinishingService } from '../finishing-service.ts';
import { lostCreates } from '../../../support/tier.ts';

const run = promisify(execFile);
const program = resolve('test/api/dialects/openrouter/openrouter_client.py'); // tests run in the root of the project
const price = 4 * 33;
const create = '/api/v1/videos';

describe('openrouter from PyPI, given another server URL and key', () => {
  let python: string;
  let stage: FinishingService;
  before(async () => {
    python = await pythonWith('openrouter==1.3.84');
    stage = await startFinishingService();
  });
  after(() => stage.close());

  async function printed(mode: 'generate' | 'keyed' | 'plain', key: string, creates = 1): Promise<number> {
    const { stdout } = await run(python, [program, mode, `${stage.publicUrl}/api/v1`, key, String(creates)]);
    return Number(stdout);
  }

  test('creates a video, polls it, downloads it in three ways, lists the models and raises its own errors', async () => {
    const { accountId, key } = await stage.newAccount(1000);
    assert.equal(await printed('generate', key), stage.video.length);
    assert.deepEqual(await stage.booksOf(accountId), { tasks: 1, balance: 1000 - price });
  });

  test('does not repeat a create whose connection broke: it raises, and the task is charged once', async () => {
    const { accountId, key } = await stage.newAccount(1000);
    stage.proxy.loseFirst('POST', create);
    await assert.rejects(printed('plain', key), /Server disconnected without sending a response/);
    assert.deepEqual(await stage.booksOf(accountId), { tasks: 1, balance: 1000 - price });
  });

  for (const [mode, means] of [
    ['keyed', 'an Idempotency-Key'],
    ['plain', 'an API key that merges repeats'],
  ] as const) {
    test(`repeats a create that a proxy answered with 502; with ${means} it is charged for no second one in ${lostCreates}`, async () => {
      const { accountId, key } = await stage.newAccount(lostCreates * price);
      if (mode === 'plain') await mergeRepeats(stage.service.database.db, accountId);
      const lostBefore = stage.proxy.lost();
      stage.proxy.loseFirst('POST', create, 502);
      assert.equal(await printed(mode, key, lostCreates), lostCreates);
      assert.equal(stage.proxy.lost() - lostBefore, lostCreates);
      assert.deepEqual(await stage.booksOf(accountId), { tasks: lostCreates, balance: 0 });
    });
  }

  test('without either, a create that was answered with 502 becomes two tasks', async () => {
    const { accountId, key } = await stage.newAccount(1000);
    stage.proxy.loseFirst('POST', create, 502);
    assert.equal(await printed('plain', key), 1);
    assert.deepEqual(await stage.booksOf(accountId), { tasks: 2, balance: 1000 - 2 * price });
  });
});
