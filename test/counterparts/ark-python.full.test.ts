import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { after, before, describe, test } from 'node:test';
import { readBooks } from '../../src/credits/credits.ts';
import { startLosingProxy } from '../support/losing-proxy.ts';
import { startHttpService } from '../support/http-service.ts';
import { pythonWith } from '../support/installed-packages.ts';
import { bytePlusPackages } from './ark-packages.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';

// The SDKs of BytePlus and Volcengine, from PyPI, in front of our shape of Ark.

const sdks = {
  byteplussdkarkruntime: bytePlusPackages,
  volcenginesdkarkruntime: ['volcengine-ark-runtime==5.0.54'],
};

const run = promisify(execFile);

async function client(sdk: string, packages: readonly string[], ...args: readonly string[]): Promise<unknown> {
  const { stdout } = await run(await pythonWith(...packages), ['test/counterparts/ark-client.py', sdk, ...args]);
  return JSON.parse(stdout) as unknown;
}

for (const [sdk, packages] of Object.entries(sdks)) {
  describe(packages[0] ?? sdk, () => {
    let service: TestService;
    before(async () => {
      service = await startTestService();
    });
    after(() => service.close());

    test('creates, follows, downloads, lists and deletes tasks, and reads our refusals', async () => {
      const { accountId, key } = await createTestAccount(service.database, 1_000);
      assert.deepEqual(await client(sdk, packages, service.baseUrl, key, 'exercise'), {
        status: 'succeeded',
        ratio: '9:16',
        duration: 4,
        tokens: 0,
        user: 'user-1',
        isVideo: true,
        cancelled: 'cancelled',
        listed: [2, ['cancelled', 'succeeded']],
        succeeded: [1, true],
        refusal: { type: 'ArkUnprocessableEntityError', code: 'invalid_request', param: 'camera_fixed' },
      });
      const { balance } = await readBooks(service.database.db, { accountId, before: undefined, limit: 1 });
      assert.equal(balance, 1_000 - 132);
    });

    // docs/clients.md warns of the second charge: each of its tries has another X-Client-Request-Id, and nothing marks a repeat.
    test('200 creates with an Idempotency-Key are charged once each although the first responses are lost, one without is charged twice', async (t) => {
      const lossy = await startHttpService();
      const proxy = await startLosingProxy();
      proxy.forwardTo(lossy.url);
      proxy.loseFirst('POST', '/api/v3/contents/generations/tasks');
      t.after(async () => {
        await proxy.close();
        await lossy.close();
      });
      const { accountId, key } = await lossy.newAccount(1_000_000);
      const text = 'update accounts set max_unfinished_tasks = 1000 where id = $1';
      await lossy.database.db.run({ name: 'test-many-unfinished', text }, [accountId]);
      const { keyed, unkeyed } = (await client(sdk, packages, proxy.url, key, 'repeats')) as {
        readonly keyed: readonly string[];
        readonly unkeyed: string;
      }; // what the script prints
      assert.equal(new Set([...keyed, unkeyed]).size, 201);
      assert.equal(proxy.lost(), 201);
      const { balance } = await readBooks(lossy.database.db, { accountId, before: undefined, limit: 1 });
      assert.equal(balance, 1_000_000 - 202 * 165);
    });
  });
}
