import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { changeAccountLimitsAs } from '../../../src/accounts/accounts.ts';
import { ordinaryScopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { setSpendCaps } from '../../../src/accounts/limits/spend-caps.ts';
import { createRateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import { reserveUpload } from '../../../src/media/references/upload-rows.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { newMember, shell } from '../../support/service/person.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService({
    createRate: { quota: 20, windowMs: 10 * 60_000 },
    reads: createRateLimiter({ quota: 100, windowMs: 10 * 60_000 }, () => 0),
    promptRetentionMs: 30 * 86_400_000,
  });
});
after(() => service.close());

async function limitsOf(key: string, of = service) {
  const { status, json } = await of.send('GET', '/api/v1/limits', { headers: { authorization: `Bearer ${key}` } });
  assert.equal(status, 200);
  return json.data;
}

test('200 limits show what a create, an upload and a read have used, and nothing of another account', async () => {
  const [own, other] = [await service.newAccount(10_000), await service.newAccount(10_000)];
  assert.equal((await service.create(own.key, plainRequest)).status, 200);
  const { db } = service.database;
  const uploadId = '018f0000-0000-7000-8000-000000000001';
  const upload = { uploadId, fileName: 'image.jpg', bytes: 700, retentionMs: 1000 } as const;
  await reserveUpload(db, { ...upload, accountId: own.accountId });
  const first = await limitsOf(own.key);
  assert.deepEqual(first['unfinishedTasks'], { used: 1, limit: 1000 });
  assert.deepEqual(first['creates'], { quota: 20, windowSeconds: 600, remaining: 19 });
  assert.deepEqual(first['uploads'], { used: 1, limit: 500 });
  assert.deepEqual(first['uploadedBytes'], { used: 700, limit: 1024 ** 3 });
  assert.deepEqual(first['activeKeys'], { used: 1, limit: 100 });
  assert.deepEqual(first['spendCaps'], []);
  assert.deepEqual(first['retention'], { mediaDays: 14, promptDays: 30 });
  const readsLeft = (limits: Readonly<Record<string, unknown>>) => (limits['reads'] as { remaining: number }).remaining; // as documented
  assert.equal(readsLeft(await limitsOf(own.key)), readsLeft(first) - 1);
  const untouched = await limitsOf(other.key);
  assert.deepEqual(untouched['unfinishedTasks'], { used: 0, limit: 1000 });
  assert.deepEqual(untouched['uploads'], { used: 0, limit: 500 });
});

test('200 the remaining reads are those of the person in the console, and not of the programs of the account', async () => {
  const { accountId, person } = await newMember(service);
  const { key } =
    (await createKeyUnchecked(service.database.db, { accountId, name: 'a', scopes: ordinaryScopes })) ?? assert.fail();
  const left = async () => {
    const { json } = await person.ask('GET', '/api/v1/limits', { accountId });
    return (json.data['reads'] as { remaining: number }).remaining;
  };
  const first = await left();
  for (let times = 0; times < 3; times += 1) await limitsOf(key);
  assert.equal(await left(), first - 1);
});

test('200 an installation without rates, and that keeps prompts, has none of these limits', async () => {
  const { database } = service;
  const unlimited = await startHttpService({ database, createRate: undefined, reads: undefined });
  try {
    const { key } = await unlimited.newAccount(0);
    const { creates, reads, retention } = await limitsOf(key, unlimited);
    assert.deepEqual([creates, reads, retention], [null, null, { mediaDays: 14, promptDays: null }]);
  } finally {
    await unlimited.close();
  }
});

test('200 of keys those count that work: not the revoked ones, nor the expired ones', async () => {
  const { accountId, key } = await service.newAccount(0);
  const { db } = service.database;
  const old = { accountId, name: 'old', scopes: ordinaryScopes };
  const [revoked, expired] = [await createKeyUnchecked(db, old), await createKeyUnchecked(db, old)];
  assert.deepEqual((await limitsOf(key))['activeKeys'], { used: 3, limit: 100 });
  await db.run({ name: 'test-revoke', text: 'update api_keys set revoked_at = now() where id = $1' }, [revoked?.keyId]);
  assert.deepEqual((await limitsOf(key))['activeKeys'], { used: 2, limit: 100 });
  await db.run({ name: 'test-expire', text: 'update api_keys set expires_at = now() where id = $1' }, [expired?.keyId]);
  assert.deepEqual((await limitsOf(key))['activeKeys'], { used: 1, limit: 100 });
});

test("200 the account's own limits and caps replace those of the installation", async () => {
  await awayFromMidnight();
  const { accountId, key } = await service.newAccount(10_000);
  const { db } = service.database;
  const createRate = { quota: 3, windowMs: 3_600_000 };
  await changeAccountLimitsAs(db, shell, { accountId, maxUnfinishedTasks: 2, createRate });
  await setSpendCaps(db, accountId, { kind: 'account', id: accountId }, { day: 600, total: 500 });
  const keys = { name: 'test-key-of-account', text: 'select id from api_keys where account_id = $1' };
  const [{ id: keyId } = assert.fail()] = await db.run<{ id: string }>(keys, [accountId]);
  await setSpendCaps(db, accountId, { kind: 'key', id: keyId }, { month: 700 });
  const sinceMs = Date.now();
  assert.equal((await service.create(key, plainRequest)).status, 200);
  const { unfinishedTasks, creates, spendCaps } = await limitsOf(key);
  assert.deepEqual(unfinishedTasks, { used: 1, limit: 2 });
  assert.deepEqual(creates, { quota: 3, windowSeconds: 3600, remaining: 2 });
  const caps = spendCaps as readonly Readonly<Record<string, unknown>>[]; // as documented
  const capOf = (of: string) => caps.find(({ period }) => period === of) ?? assert.fail(of);
  const price = capOf('total')['spent'];
  assert.ok(Number(price) > 0);
  assert.deepEqual(capOf('total'), { period: 'total', cap: 500, spent: price, resetTime: null });
  const { resetTime, ...daily } = capOf('day');
  assert.deepEqual(daily, { period: 'day', cap: 600, spent: price });
  assert.ok(Number(resetTime) > sinceMs && Number(resetTime) % 86_400_000 === 0);
  assert.equal(caps.length, 2, 'the cap of a key is not one of the account');
});
