import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { refundTask } from '../../../src/stores/tasks.ts';
import { bookCredits } from '../../../src/stores/credits.ts';
import { type Answer, assertRefused } from '../../support/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/http-service.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

type Books = {
  readonly balance: number;
  readonly entries: readonly { entryId: number; kind: string; amount: number; balanceAfter: number; taskId: unknown }[];
  readonly nextCursor: string | null;
};

function show(key: string, query = ''): Promise<Answer> {
  return service.send('GET', `/api/v1/credits${query}`, { headers: { authorization: `Bearer ${key}` } });
}

async function booksOf(key: string, query = ''): Promise<Books> {
  const answer = await show(key, query);
  assert.equal(answer.status, 200, answer.bytes.toString());
  // The service holds its answers against the schema of the endpoint.
  return answer.json.data as Books;
}

test('200 the balance, and every entry that led to it, newest first', async () => {
  const { accountId, key } = await service.newAccount(1000);
  const taskId = String((await service.create(key, plainRequest)).json.data['taskId']);
  await refundTask(service.database.db, taskId, { failCode: 'timeout', failMsg: 'It took too long.' });
  await bookCredits(service.database.db, { accountId, kind: 'grant', amount: 5, reason: 'thanks' });
  const { balance, entries, nextCursor } = await booksOf(key);
  assert.deepEqual([balance, nextCursor], [1005, null]);
  assert.deepEqual(
    entries.map(({ kind, amount, balanceAfter, taskId: task }) => [kind, amount, balanceAfter, task]),
    [
      ['grant', 5, 1005, null],
      ['refund', 165, 1000, taskId],
      ['charge', -165, 835, taskId],
      ['grant', 1000, 1000, null],
    ],
  );
});

test('200 an account without any entry has a balance of 0', async () => {
  const { key } = await service.newAccount(0);
  assert.deepEqual(await booksOf(key), { balance: 0, entries: [], nextCursor: null });
});

test('200 pages go down the ledger without gaps while new entries arrive', async () => {
  const { accountId, key } = await service.newAccount(1);
  for (let credits = 2; credits <= 5; credits += 1) {
    await bookCredits(service.database.db, { accountId, kind: 'grant', amount: credits, reason: 'x' });
  }
  const first = await booksOf(key, '?limit=2');
  await bookCredits(service.database.db, { accountId, kind: 'grant', amount: 100, reason: 'meanwhile' });
  const second = await booksOf(key, `?limit=2&cursor=${first.nextCursor}`);
  const third = await booksOf(key, `?limit=2&cursor=${second.nextCursor}`);
  assert.deepEqual(
    [first, second, third].map(({ entries }) => entries.map(({ amount }) => amount)),
    [[5, 4], [3, 2], [1]],
  );
  assert.equal(third.nextCursor, null);
  assert.equal(second.balance, 115, 'the balance is of this very moment');
});

test('200 the newest entry agrees with the balance, also under load', async () => {
  const { accountId, key } = await service.newAccount(1);
  const grants = Array.from({ length: 30 }, () =>
    bookCredits(service.database.db, { accountId, kind: 'grant', amount: 1, reason: 'load' }),
  );
  for (const { balance, entries } of await Promise.all(Array.from({ length: 10 }, () => booksOf(key)))) {
    assert.equal(entries[0]?.balanceAfter, balance);
  }
  await Promise.all(grants);
});

test('200 nobody sees the entries of another account, whatever the cursor', async () => {
  const [mine, other] = [await service.newAccount(7), await service.newAccount(8)];
  const [entry] = (await booksOf(other.key)).entries;
  const { entries } = await booksOf(mine.key, `?cursor=${(entry?.entryId ?? 0) + 1}`);
  assert.deepEqual(
    entries.map(({ amount }) => amount),
    [7],
  );
});

for (const query of ['limit=0', 'limit=101', 'cursor=x', 'cursor=0', 'cursor=1&cursor=2', 'before=1']) {
  test(`422 ?${query}`, async () => {
    const { key } = await service.newAccount(0);
    assert.equal((await show(key, `?${query}`)).status, 422);
  });
}

test('401 without a key, 403 with a key that may not read credits', async () => {
  assertRefused(await service.send('GET', '/api/v1/credits'), 401, /valid API key/);
  const { key } = await service.newAccount(0, ['tasks:write', 'tasks:read']);
  assertRefused(await show(key), 403, /credits:read/);
});
