import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { readBalanceAndEntries } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { completeTask } from '../../../src/tasks/end/end-task-statements.ts';
import { startHttpService } from '../../support/service/http-service.ts';
import { startLosingProxy } from '../../support/proxies/lose-first-response-proxy.ts';
import { mergeRepeats } from '../../support/service/repeat-merging.ts';
import { madeUpMeasures } from '../../support/tasks/tasks.ts';
import { generate } from './ark-sdk.ts';
import { lostCreates } from '../../support/tier.ts';

// The AI SDK with its provider for Ark repeats a create whose response was lost.

/** A service that ends each task immediately, behind a proxy that loses the first response to each create. */
async function lossy(t: TestContext) {
  const ended: Promise<unknown>[] = [];
  const service = await startHttpService({
    startTask: ({ taskId }) => {
      const files = { videoKey: `results/${taskId}/video.mp4`, posterKey: `results/${taskId}/poster.jpg` };
      ended.push(completeTask(service.database.db, taskId, { ...madeUpMeasures, ...files }));
    },
  });
  const proxy = await startLosingProxy();
  proxy.forwardTo(service.url);
  proxy.loseFirst('POST', '/api/v3/contents/generations/tasks');
  t.after(async () => {
    await Promise.all(ended);
    await proxy.close();
    await service.close();
  });
  const { accountId, key } = await service.newAccount(1_000_000);
  const download = async () => ({ data: new Uint8Array([1]), mediaType: 'video/mp4' });
  const create = (prompt: string, headers: Record<string, string> = {}) =>
    generate(proxy.url, key, { prompt, headers, download });
  const charges = async () => {
    const { balance } = await readBalanceAndEntries(service.database.db, { accountId, before: undefined, limit: 1 });
    return (1_000_000 - balance) / 132;
  };
  const merge = () => mergeRepeats(service.database.db, accountId);
  return { create, charges, proxy, merge };
}

test(`${lostCreates} creates with an Idempotency-Key yield as many videos and charges, although each first response is lost`, async (t) => {
  const { create, charges, proxy } = await lossy(t);
  const names = Array.from({ length: lostCreates }, (_, index) => `video-${index}`);
  const results = await Promise.all(names.map((name) => create(name, { 'Idempotency-Key': name })));
  assert.equal(new Set(results.map(({ providerMetadata }) => JSON.stringify(providerMetadata))).size, lostCreates);
  assert.equal(await charges(), lostCreates);
  assert.equal(proxy.lost(), lostCreates);
});

test(`${lostCreates} creates by an API key that merges repeats yield as many videos and charges, although each first response is lost`, async (t) => {
  const { create, charges, proxy, merge } = await lossy(t);
  await merge();
  const results = await Promise.all(Array.from({ length: lostCreates }, (_, index) => create(`video-${index}`)));
  assert.equal(new Set(results.map(({ providerMetadata }) => JSON.stringify(providerMetadata))).size, lostCreates);
  assert.equal(await charges(), lostCreates);
  assert.equal(proxy.lost(), lostCreates);
});

// docs/clients.md warns of it. Nothing distinguishes its repeats from further creates of the same video.
test('the SDK does not mark its repeats, so without either a lost response buys a second task', async (t) => {
  const { create, charges } = await lossy(t);
  await create('a lighthouse');
  assert.equal(await charges(), 2);
});
