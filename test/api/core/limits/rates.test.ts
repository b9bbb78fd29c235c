import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBadKeyLimiter, createRateLimiter } from '../../../../src/api/core/limits/rate-limits.ts';
import { setAccountLimits } from '../../../../src/accounts/accounts.ts';
import { generateApiKey } from '../../../../src/accounts/keys/key-format.ts';
import { createFrozenDatabase } from '../../../support/database/frozen-clock.ts';
import { type Answer, assertRefused } from '../../../support/service/http-client.ts';
import { type HttpService, plainRequest } from '../../../support/service/http-service.ts';
import { newPerson, type Person } from '../../../support/service/person.ts';
import { retryAfterMs, useDatabase } from './rates-stage.ts';

const { database, withService } = useDatabase();

// So slow that nothing comes back while a test runs, unless the test moves the clock.
const creates = { quota: 5, windowMs: 3_600_000 };

test('429 two API processes share one quota, exactly, and charge nothing for what they refuse', async () => {
  await withService({ createRate: creates }, async (one) => {
    await withService({ createRate: creates }, async (other) => {
      const { accountId, key } = await one.newAccount(100_000);
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? one : other).create(key, plainRequest)),
      );
      assert.equal(answers.filter(({ status }) => status === 200).length, 5);
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        assertRefused(answer, 429, /too many requests/);
      }
      const text = `select 100000 - balance as charged from accounts where id = $1`;
      assert.deepEqual(await database().db.run({ name: 'test-charged', text }, [accountId]), [{ charged: 5 * 165 }]);
    });
  });
});

test('200 every response states what is left, and a client that obeys is never refused', async (t) => {
  let now = Date.now();
  const instant = () => ({ now: new Date(now).toISOString() });
  const frozen = await createFrozenDatabase(instant());
  t.after(() => frozen.close());
  await withService({ createRate: creates, database: frozen, now: () => now }, async (service) => {
    const { key } = await service.newAccount(100_000);
    const wait = (ms: number) => {
      now += ms;
      return frozen.set(instant());
    };
    for (const left of [4, 3, 2, 1, 0]) {
      const { status, headers } = await service.create(key, plainRequest);
      assert.equal(status, 200);
      assert.equal(headers['ratelimit-policy'], '"creates";q=5;w=3600');
      assert.match(String(headers['ratelimit']), new RegExp(`^"creates";r=${left};t=720$`));
    }
    for (let round = 0; round < 3; round += 1) {
      const refused = await createUntilRefused(service, key);
      assert.match(String(refused.headers['ratelimit']), /^"creates";r=0;t=\d+$/);
      const [, seconds] = /t=(\d+)/.exec(String(refused.headers['ratelimit'])) ?? [];
      const latestMs = Number(seconds) * 1000 + creates.windowMs / 2;
      assert.ok(
        retryAfterMs(refused) >= Number(seconds) * 1000 && retryAfterMs(refused) <= latestMs,
        'room, and half a window',
      );
      await wait(retryAfterMs(refused));
      assert.equal((await service.create(key, plainRequest)).status, 200);
    }
  });
});

/** A client that waited longer than necessary has collected a surplus, which is used up first. */
async function createUntilRefused(service: HttpService, key: string): Promise<Answer> {
  for (let tries = 0; tries <= creates.quota; tries += 1) {
    const answer = await service.create(key, plainRequest);
    if (answer.status === 429) return answer;
  }
  throw new Error('more was accepted than the quota');
}

test('429 clients of one account that are refused together get different Retry-After times', async () => {
  await withService({ createRate: creates }, async (service) => {
    const { key } = await service.newAccount(100_000);
    const all = await Promise.all(Array.from({ length: 10 }, () => service.create(key, plainRequest)));
    const waits = all.filter(({ status }) => status === 429).map(retryAfterMs);
    assert.equal(waits.length, 5);
    assert.ok(new Set(waits).size > 1, waits.join());
  });
});

test('429 of one account leaves every other alone', async () => {
  await withService({ createRate: { quota: 1, windowMs: 3_600_000 } }, async (service) => {
    const [a, b] = [await service.newAccount(1000), await service.newAccount(1000)];
    assert.equal((await service.create(a.key, plainRequest)).status, 200);
    assert.equal((await service.create(a.key, plainRequest)).status, 429);
    assert.equal((await service.create(b.key, plainRequest)).status, 200);
  });
});

test('200 a repeated create is answered again also when there is no room for a new one, and takes none', async () => {
  await withService({ createRate: { quota: 2, windowMs: 3_600_000 } }, async (service) => {
    const { key } = await service.newAccount(1000);
    const headers = { 'idempotency-key': 'k' };
    const first = await service.create(key, plainRequest, headers);
    assert.deepEqual((await service.create(key, plainRequest, headers)).json, first.json);
    assert.equal((await service.create(key, plainRequest)).status, 200);
    assert.equal((await service.create(key, plainRequest)).status, 429);
    assert.deepEqual((await service.create(key, plainRequest, headers)).json, first.json);
  });
});

test('402 and 422 take no room: only what was accepted counts', async () => {
  await withService({ createRate: { quota: 1, windowMs: 3_600_000 } }, async (service) => {
    const { accountId, key } = await service.newAccount(0);
    assert.equal((await service.create(key, plainRequest)).status, 402);
    assert.equal((await service.create(key, {})).status, 422);
    await database().db.run({ name: 'test-fill', text: 'update accounts set balance = 165 where id = $1' }, [
      accountId,
    ]);
    await database().db.run(
      {
        name: 'test-fill-entry',
        text: `insert into ledger_entries (account_id, kind, amount, balance_after) values ($1, 'grant', 165, 165)`,
      },
      [accountId],
    );
    assert.equal((await service.create(key, plainRequest)).status, 200);
  });
});

test("200 an account's own rate counts instead of the installation's, faster or slower", async () => {
  await withService({ createRate: { quota: 1, windowMs: 3_600_000 } }, async (service) => {
    const { accountId, key } = await service.newAccount(100_000);
    const createRate = { quota: 3, windowMs: 3_600_000 };
    assert.ok(await setAccountLimits(database().db, accountId, { createRate, maxUnfinishedTasks: 10 }));
    const shown = await service.send('GET', '/api/v1/models', { headers: { authorization: `Bearer ${key}` } });
    assert.deepEqual(shown.json.data['limits'], {
      creates: { quota: 3, windowSeconds: 3_600 },
      reads: null,
      unfinishedTasks: 0,
      maxUnfinishedTasks: 10,
    });
    for (const status of [200, 200, 200, 429]) {
      assert.equal((await service.create(key, plainRequest)).status, status);
    }
  });
});

test('429 reads have a rate of their own, which creates do not use up', async () => {
  let now = 0;
  const reads = createRateLimiter({ quota: 3, windowMs: 30_000 }, () => now);
  await withService({ reads }, async (service) => {
    const { key } = await service.newAccount(100_000);
    const other = await service.newAccount(0);
    const read = (bearer: string) =>
      service.send('GET', '/api/v1/credits', { headers: { authorization: `Bearer ${bearer}` } });
    for (const left of [2, 1, 0]) {
      const { status, headers } = await read(key);
      assert.deepEqual([status, headers['ratelimit-policy']], [200, '"reads";q=3;w=30']);
      assert.equal(headers['ratelimit'], `"reads";r=${left};t=10`);
    }
    const refused = await read(key);
    assertRefused(refused, 429, /too many requests/);
    assert.ok(retryAfterMs(refused) >= 10_000 && retryAfterMs(refused) <= 25_000, 'room, and half a window');
    assert.equal((await read(other.key)).status, 200);
    assert.equal((await service.create(key, plainRequest)).status, 200);
    now += 10_000;
    assert.deepEqual([(await read(key)).status, (await read(key)).status], [200, 429]);
  });
});

test('429 what a page of the console reads is counted for its person, and a program for its account', async () => {
  const reads = createRateLimiter({ quota: 3, windowMs: 3_600_000 });
  await withService({ reads }, async (service) => {
    const { accountId, key } = await service.newAccount(1_000);
    const [one, other] = [
      await newPerson(service, { roles: { [accountId]: 'viewer' } }),
      await newPerson(service, { roles: { [accountId]: 'viewer' } }),
    ];
    const page = async (person: Person) => (await person.ask('GET', '/api/v1/credits', { accountId })).status;
    const headers = { authorization: `Bearer ${key}` };
    const program = async () => (await service.send('GET', '/api/v1/credits', { headers })).status;
    const statuses = async (read: () => Promise<number>) => [await read(), await read(), await read(), await read()];
    for (const read of [() => page(one), program, () => page(other)]) {
      assert.deepEqual(await statuses(read), [200, 200, 200, 429]);
    }
  });
});

test("429 reads of another dialect's endpoint count, although the key is refused there", async () => {
  const reads = createRateLimiter({ quota: 2, windowMs: 3_600_000 });
  await withService({ reads }, async (service) => {
    const { key } = await service.newAccount(0);
    const read = () => service.send('GET', '/api/v1/chat/credit', { headers: { authorization: `Bearer ${key}` } });
    for (const _ of [1, 2]) assertRefused(await read(), 403, /dialect kie/);
    assertRefused(await read(), 429, /too many requests/);
  });
});

test('429 bad keys are counted by address; keys that were good lately are not held up by them', async () => {
  let now = 0;
  const badKeys = createBadKeyLimiter(createRateLimiter({ quota: 3, windowMs: 60_000 }, () => now));
  await withService({ badKeys }, async (service) => {
    const { key } = await service.newAccount(0);
    const ask = (bearer: string, address = '203.0.113.7') =>
      service.send('GET', '/api/v1/credits', {
        headers: { authorization: `Bearer ${bearer}`, 'x-forwarded-for': `198.51.100.1, ${address}` },
      });
    assert.equal((await ask(key)).status, 200);
    for (const bad of ['x', generateApiKey(), 'x']) assertRefused(await ask(bad), 401, /valid API key/);
    const refused = await ask(generateApiKey());
    assertRefused(refused, 429, /too many invalid API keys/);
    assert.equal(retryAfterMs(refused), 20_000);
    assert.equal((await ask(key)).status, 200);
    assertRefused(await ask('x', '203.0.113.8'), 401, /valid API key/);
    assertRefused(await service.send('GET', '/api/v1/credits'), 401, /valid API key/);
    now += 20_000;
    assertRefused(await ask('x'), 401, /valid API key/);
  });
});

test('429 the limit of bad keys is exact for requests at once, and a good key that was not used before is never refused', async () => {
  const badKeys = createBadKeyLimiter(createRateLimiter({ quota: 3, windowMs: 3_600_000 }));
  await withService({ badKeys }, async (service) => {
    const { key } = await service.newAccount(0);
    const ask = async (bearer: string) =>
      (await service.send('GET', '/api/v1/credits', { headers: { authorization: `Bearer ${bearer}` } })).status;
    const good = await Promise.all(Array.from({ length: 30 }, () => ask(key)));
    assert.deepEqual(new Set(good), new Set([200]));
    const bad = await Promise.all(Array.from({ length: 30 }, () => ask(generateApiKey())));
    assert.equal(bad.filter((status) => status === 401).length, 3);
    assert.equal(bad.filter((status) => status === 429).length, 27);
  });
});

test('429 bad keys from one IPv6 network are one client', async () => {
  const badKeys = createBadKeyLimiter(createRateLimiter({ quota: 1, windowMs: 60_000 }));
  await withService({ badKeys }, async (service) => {
    const ask = async (address: string) => {
      const headers = { authorization: 'Bearer x', 'x-forwarded-for': address };
      return (await service.send('GET', '/api/v1/credits', { headers })).status;
    };
    assert.deepEqual([await ask('2a02:db8:1:2::1'), await ask('2a02:db8:1:2:ffff::9')], [401, 429]);
    assert.equal(await ask('2a02:db8:1:3::1'), 401);
    assert.deepEqual([await ask('not an address'), await ask('')], [401, 429], 'these count for the peer');
  });
});
