import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { bookCredits } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

type Books = {
  readonly balance: number;
  readonly entries: readonly {
    entryId: number;
    kind: string;
    amount: number;
    balanceAfter: number;
    taskId: unknown;
    createTime: number;
  }[];
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
  await failAndRefund(service.database.db, taskId, { failCode: 'timeout', failMsg: 'It took too long.' });
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

test('200 only entries of a kind, of a task, or of a time', async () => {
  const { accountId, key } = await service.newAccount(1_000);
  const { db } = service.database;
  const [first, second] = [await newTask(key), await newTask(key)];
  await failAndRefund(db, first, { failCode: 'timeout', failMsg: 'It took too long.' });
  await bookCredits(db, { accountId, kind: 'adjustment', amount: -5, reason: 'a mistake' });
  const kinds = async (query: string) => (await booksOf(key, query)).entries.map(({ kind }) => kind);
  assert.deepEqual(await kinds('?kind=charge'), ['charge', 'charge']);
  assert.deepEqual(await kinds('?kind=grant'), ['grant']);
  assert.deepEqual(await kinds('?kind=adjustment'), ['adjustment']);
  assert.deepEqual(await kinds(`?taskId=${first}`), ['refund', 'charge']);
  assert.deepEqual(await kinds(`?taskId=${second}&kind=refund`), []);
  const stranger = await service.newAccount(1);
  assert.deepEqual((await booksOf(stranger.key, `?taskId=${first}`)).entries, []);
});

async function newTask(key: string): Promise<string> {
  return String((await service.create(key, plainRequest)).json.data['taskId']);
}

/** A charge and a grant every three hours of a week, as they would have been booked; only a clock is needed for that. */
const pastWeek = `
with made as (
  insert into tasks (id, account_id, model, price_name, param, credits_charged, request_sha256, deadline_ms, created_at)
  select gen_random_uuid(), $1, 'past', 'standard', '{}', n, sha256(n::text::bytea), 1800000, now() - (57 - n) * interval '3 hours'
  from generate_series(1, 56) n returning *
)
insert into ledger_entries (account_id, task_id, kind, amount, balance_after, created_at)
select account_id, task, kind, amount, 1000, at from (
  select account_id, id as task, 'charge' as kind, -credits_charged as amount, created_at as at from made
  union all select account_id, null, 'grant', credits_charged, created_at + interval '2 hours' from made
) entry order by at`;

test('200 a time picks the entries of that time, wherever it begins and ends', async () => {
  const { accountId, key } = await service.newAccount(0);
  await service.database.db.run({ name: 'test-past-week', text: pastWeek }, [accountId]);
  const all = [...(await booksOf(key, '?limit=100')).entries];
  all.push(...(await booksOf(key, `?limit=100&cursor=${all.at(-1)?.entryId}`)).entries);
  assert.equal(all.length, 112);
  const hourMs = 3_600_000;
  for (const [from, to] of [
    [170, 0],
    [24, 23],
    [30, 24],
    [169, 160],
    [2, 0],
    [400, 300],
  ] as const) {
    const [fromMs, toMs] = [Date.now() - from * hourMs, Date.now() - to * hourMs];
    for (const kind of [undefined, 'grant', 'charge']) {
      const wanted = all.filter((entry) => entry.createTime >= fromMs && entry.createTime < toMs);
      const query = `?limit=100&from=${fromMs}&to=${toMs}${kind === undefined ? '' : `&kind=${kind}`}`;
      assert.deepEqual(
        (await booksOf(key, query)).entries.map(({ entryId }) => entryId),
        wanted
          .filter((entry) => kind === undefined || entry.kind === kind)
          .map(({ entryId }) => entryId)
          .slice(0, 100),
      );
    }
  }
});

test('200 the export is a table of every entry, also of more than one page', async () => {
  const { accountId, key } = await service.newAccount(0);
  const { db } = service.database;
  await db.run({ name: 'test-past-week', text: pastWeek }, [accountId]);
  await db.run({ name: 'test-many-grants', text: manyGrants }, [accountId]);
  await bookCredits(db, { accountId, kind: 'grant', amount: 1, reason: '=1+1, "so"' });
  const { status, headers, bytes } = await service.send('GET', '/api/v1/credits/export', auth(key));
  assert.equal(status, 200);
  assert.match(String(headers['content-disposition']), /^attachment; filename="credits\.csv"$/);
  const [names, newest, ...lines] = bytes.toString().split('\r\n');
  assert.equal(names, 'entryId,createTime,kind,amount,balanceAfter,taskId,priceName,reason');
  assert.match(String(newest), /^\d+,\d{4}-\d\d-\d\dT[\d:.]+Z,grant,1,1,,,"'=1\+1, ""so"""$/);
  assert.deepEqual([lines.length, lines.at(-1)], [112 + 4_000 + 1, '']);
  const ids = lines.slice(0, -1).map((line) => Number(line.split(',')[0]));
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => b - a),
  );
  assert.equal(new Set(ids).size, ids.length);
  const charges = await service.send('GET', '/api/v1/credits/export?kind=charge', auth(key));
  assert.equal(charges.bytes.toString().split('\r\n').length, 56 + 2);
  assert.match(charges.bytes.toString().split('\r\n')[1] ?? '', /,charge,-56,1000,[0-9a-f-]{36},standard,$/);
  const stranger = await service.newAccount(0);
  const empty = await service.send('GET', '/api/v1/credits/export', auth(stranger.key));
  assert.equal(empty.bytes.toString(), `${names}\r\n`);
});

const manyGrants = `
insert into ledger_entries (account_id, kind, amount, balance_after) select $1, 'grant', 1, 1 from generate_series(1, 4000)`;

test('422 an export with a cursor, 403 without the scope', async () => {
  const { key } = await service.newAccount(0);
  const { status, json } = await service.send('GET', '/api/v1/credits/export?cursor=1', auth(key));
  assert.deepEqual([status, json.error], [422, 'invalid_request']);
  const reader = await service.newAccount(0, ['tasks:read']);
  for (const path of ['/export', '/daily?from=2026-01-01&to=2026-01-01']) {
    assertRefused(await service.send('GET', `/api/v1/credits${path}`, auth(reader.key)), 403, /credits:read/);
  }
});

test('200 the sums of each day are those of the ledger', async () => {
  await awayFromMidnight();
  const { accountId, key } = await service.newAccount(1_000);
  const taskId = await newTask(key);
  await newTask(key);
  await failAndRefund(service.database.db, taskId, { failCode: 'timeout', failMsg: 'It took too long.' });
  await bookCredits(service.database.db, { accountId, kind: 'adjustment', amount: -5, reason: 'a mistake' });
  const today = new Date().toISOString().slice(0, 10);
  const daily = (query: string) => service.send('GET', `/api/v1/credits/daily?${query}`, auth(key));
  const { json } = await daily(`from=2026-01-01&to=2026-01-02`);
  assert.deepEqual(json.data, { days: [] });
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const { days } = (await daily(`from=${yesterday}&to=${today}`)).json.data as { days: Record<string, unknown>[] };
  const sums = { charged: 330, refunded: 165, granted: 0, tasks: 2 };
  assert.deepEqual(
    days.map(({ day: _day, ...others }) => others),
    [
      { model: 'videogen-2.0-fast', priceName: 'standard', ...sums },
      { model: null, priceName: null, charged: 0, refunded: 0, granted: 995, tasks: 0 },
    ],
  );
  const stranger = await service.newAccount(0);
  const theirs = await service.send('GET', `/api/v1/credits/daily?from=${today}&to=${today}`, auth(stranger.key));
  assert.deepEqual(theirs.json.data, { days: [] });
});

function auth(key: string) {
  return { headers: { authorization: `Bearer ${key}` } };
}

for (const query of [
  '',
  'from=2026-01-01',
  'from=2026-02-31&to=2026-03-01',
  'from=2026-01-02&to=2026-01-01',
  'from=2026-01-01&to=2026-04-03',
  'from=1&to=2',
  'from=2026-01-01&to=2026-01-01&day=1',
]) {
  test(`422 daily ?${query}`, async () => {
    const { key } = await service.newAccount(0);
    const { status, json } = await service.send('GET', `/api/v1/credits/daily?${query}`, auth(key));
    assert.deepEqual([status, json.error], [422, 'invalid_request']);
  });
}

test('200 92 days are not too many', async () => {
  const { key } = await service.newAccount(0);
  const { status } = await service.send('GET', '/api/v1/credits/daily?from=2026-01-01&to=2026-04-02', auth(key));
  assert.equal(status, 200);
});

for (const query of [
  'kind=gift',
  'taskId=x',
  'from=x',
  'to=-1',
  'limit=0',
  'limit=101',
  'cursor=x',
  'cursor=0',
  'cursor=1&cursor=2',
  'before=1',
]) {
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
