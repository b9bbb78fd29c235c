import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { after, before, describe, test } from 'node:test';
import { readBalanceAndEntries } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { startLosingProxy } from '../../support/proxies/lose-first-response-proxy.ts';
import { startHttpService } from '../../support/service/http-service.ts';
import { mergeRepeats } from '../../support/service/repeat-merging.ts';
import { pythonWith } from '../../support/processes/installed-packages.ts';
import { bytePlusPackages } from './ark-packages.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';
import { lostCreates } from '../../support/tier.ts';

// The SDKs of BytePlus and Volcengine, from PyPI, in front of our shape of Ark.

const sdks = {
  byteplussdkarkruntime: bytePlusPackages,
  volcenginesdkarkruntime: ['volcengine-ark-runtime==5.0.54'],
};

const run = promisify(execFile);

async function client(sdk: string, packages: readonly string[], ...args: readonly string[]): Promise<unknown> {
  const { stdout } = await run(await pythonWith(...packages), ['test/counterparts/ark/ark-client.py', sdk, ...args]);
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
      const { balance } = await readBalanceAndEntries(service.database.db, { accountId, before: undefined, limit: 1 });
      assert.equal(balance, 1_000 - 132);
    });

    // docs/clients.md warns of the second charge: each of its tries has another X-Client-Request-Id, and nothing marks a repeat.
    test(`${lostCreates} creates with an Idempotency-Key and ${lostCreates} by an API key that merges repeats are charged once each although the first responses are lost, one with neither is charged twice`, async (t) => {
      const lossy = await startHttpService();
      const proxy = await startLosingProxy();
      proxy.forwardTo(lossy.url);
      proxy.loseFirst('POST', '/api/v3/contents/generations/tasks');
      t.after(async () => {
        await proxy.close();
        await lossy.close();
      });
      const text = 'update accounts set max_unfinished_tasks = 1000';
      const [plain, merging] = [await lossy.newAccount(1_000_000), await lossy.newAccount(1_000_000)];
      await lossy.database.db.run({ name: 'test-many-unfinished', text });
      await mergeRepeats(lossy.database.db, merging.accountId);
      const created = async (key: string, mode: 'keyed' | 'unkeyed', count: number) => {
        const lostBefore = proxy.lost();
        const ids = (await client(sdk, packages, proxy.url, key, mode, String(count))) as readonly string[]; // what the script prints
        assert.deepEqual([new Set(ids).size, proxy.lost() - lostBefore], [count, count]);
      };
      const spent = async ({ accountId }: { readonly accountId: string }) => {
        const { balance } = await readBalanceAndEntries(lossy.database.db, { accountId, before: undefined, limit: 1 });
        return (1_000_000 - balance) / 165;
      };
      await created(plain.key, 'keyed', lostCreates);
      assert.equal(await spent(plain), lostCreates);
      await created(merging.key, 'unkeyed', lostCreates);
      assert.equal(await spent(merging), lostCreates);
      proxy.loseFirst('POST', '/api/v3/contents/generations/tasks');
      await created(plain.key, 'unkeyed', 1);
      assert.equal(await spent(plain), lostCreates + 2);
    });
  });
}
