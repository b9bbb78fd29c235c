import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { bookCredits, ledgerKinds } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { createCodesAs, redeemCode } from '../../../src/credits/ledger/redemption-codes.ts';
import { sectionTitle } from '../../../src/credits/reports/statement-section-titles.ts';
import { statementSections } from '../../../src/credits/reports/ledger-sections.ts';
import {
  maxBookingLines,
  monthOf,
  readStatement,
  requireStatementAddsUp,
  sumSections,
} from '../../../src/credits/reports/account-statement.ts';
import { defaultBrand } from '../../support/service/defaults/default-brand.ts';
import { statementHtml } from '../../../src/api/credits/statement-page.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { createFrozenDatabase } from '../../support/database/frozen-clock.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, type TestOperator } from '../../support/service/operator-key.ts';
import { shell } from '../../support/service/person.ts';
import { runAsSuperuser } from '../../support/processes/run-as-superuser.ts';

let service: HttpService;
let operator: TestOperator;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
});
after(() => service.close());

const db = () => service.database.db;
const thisMonth = () => new Date().toISOString().slice(0, 7);

function statement(key: string, format: 'csv' | 'html', month: string) {
  const headers = { authorization: `Bearer ${key}` };
  return service.send('GET', `/api/v1/credits/statement.${format}?month=${month}`, { headers });
}

/** An account with entries of every kind in January 2026. */
async function newBooks() {
  const { accountId, key } = await service.newAccount(1_000);
  const taskId = String((await service.create(key, plainRequest)).json.data['taskId']);
  await service.create(key, plainRequest);
  await failAndRefund(db(), taskId, { failCode: 'timeout', failMsg: 'It took too long.' });
  await bookCredits(db(), { accountId, kind: 'adjustment', amount: -30, reason: '=1+1, a "correction"' });
  const { codes } = await createCodesAs(db(), shell, { name: 'spring', credits: 500, codes: 1 });
  await redeemCode(db(), accountId, codes[0] ?? '');
  const at = `timestamptz '2026-01-05T10:00:00Z'`;
  await runAsSuperuser(
    service.database,
    `update ledger_entries set created_at = ${at} where account_id = '${accountId}'`,
    `update tasks set created_at = ${at} where account_id = '${accountId}'`,
  );
  return { accountId, key };
}

test('200 the month as CSV: balances, charges and refunds by price, and every booking', async () => {
  const { key } = await newBooks();
  const { status, bytes, headers } = await statement(key, 'csv', '2026-01');
  assert.equal(status, 200, bytes.toString());
  assert.equal(headers['content-disposition'], 'attachment; filename="statement-2026-01.csv"');
  assert.deepEqual(bytes.toString().split('\r\n'), [
    'month,section,createTime,model,priceName,entries,credits,description',
    '2026-01,opening_balance,2026-01-01T00:00:00.000Z,,,,0,',
    '2026-01,grant,2026-01-05T10:00:00.000Z,,,1,1000,opening credits',
    '2026-01,code,2026-01-05T10:00:00.000Z,,,1,500,Code of spring',
    '2026-01,charge,,videogen-2.0-fast,standard,2,-330,',
    '2026-01,refund,,videogen-2.0-fast,standard,1,165,',
    `2026-01,adjustment,2026-01-05T10:00:00.000Z,,,1,-30,"'=1+1, a ""correction"""`,
    '2026-01,closing_balance,2026-02-01T00:00:00.000Z,,,,1305,',
    '',
  ]);
  const later = await statement(key, 'csv', '2026-02');
  assert.match(later.bytes.toString(), /opening_balance,.*,1305,\r\n2026-02,closing_balance,.*,1305,\r\n$/);
});

test('200 the month as data: the lines lead from one balance to the other, and the sections are their sums', async () => {
  const { accountId, key } = await newBooks();
  await runAsSuperuser(
    service.database,
    `update accounts set created_at = timestamptz '2025-12-31T23:59:59Z' where id = '${accountId}'`,
  );
  const headers = { authorization: `Bearer ${key}` };
  const read = (month: string) => service.send('GET', `/api/v1/credits/statement?month=${month}`, { headers });
  const { createTime, sections, lines, ...figures } = (await read('2026-01')).json.data;
  assert.equal(typeof createTime, 'number');
  const [fromTime, toTime] = [Date.UTC(2026, 0), Date.UTC(2026, 1)];
  const expected = {
    month: '2026-01',
    firstMonth: '2025-12',
    fromTime,
    toTime,
    isFinal: true,
    opening: 0,
    closing: 1_305,
  };
  assert.deepEqual(figures, expected);
  const none = { entries: 0, credits: 0 };
  assert.deepEqual(sections, [
    { section: 'top_up', ...none },
    { section: 'top_up_reversal', ...none },
    { section: 'grant', entries: 1, credits: 1_000 },
    { section: 'code', entries: 1, credits: 500 },
    { section: 'charge', entries: 2, credits: -330 },
    { section: 'refund', entries: 1, credits: 165 },
    { section: 'partial_refund', ...none },
    { section: 'adjustment', entries: 1, credits: -30 },
  ]);
  const bookTime = Date.UTC(2026, 0, 5, 10);
  const booked = { model: null, priceName: null, bookTime, entries: 1 };
  const priced = { model: 'videogen-2.0-fast', priceName: 'standard', bookTime: null, reason: null };
  assert.deepEqual(lines, [
    { section: 'grant', ...booked, reason: 'opening credits', credits: 1_000 },
    { section: 'code', ...booked, reason: 'Code of spring', credits: 500 },
    { section: 'charge', ...priced, entries: 2, credits: -330 },
    { section: 'refund', ...priced, entries: 1, credits: 165 },
    { section: 'adjustment', ...booked, reason: '=1+1, a "correction"', credits: -30 },
  ]);
  assert.equal((await read('2285-12')).status, 422);
});

test('200 the month as a page that loads nothing, runs nothing and shows names as text', async () => {
  const { accountId, key } = await newBooks();
  await runAsSuperuser(
    service.database,
    `update accounts set name = '<script>alert("1")</script>' where id = '${accountId}'`,
  );
  const { status, bytes, headers } = await statement(key, 'html', '2026-01');
  const page = bytes.toString();
  assert.equal(status, 200, page);
  assert.match(
    String(headers['content-security-policy']),
    /^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
  assert.equal(headers['content-disposition'], 'inline; filename="statement-2026-01.html"');
  assert.doesNotMatch(page, /<script|src=|href=/);
  assert.match(page, /&#60;script&#62;alert\(&#34;1&#34;\)/);
  for (const text of ['Statement for January 2026', '1,305', '−330', 'Code of spring', 'Closing balance on 2026-01-31'])
    assert.ok(page.includes(text), text);
  assert.doesNotMatch(page, /has not ended/);
});

test('200 the current month ends with the balance of now, and may still change', async () => {
  const { key } = await service.newAccount(70);
  const month = thisMonth();
  const csv = (await statement(key, 'csv', month)).bytes.toString();
  const page = (await statement(key, 'html', month)).bytes.toString();
  if (month !== thisMonth()) return;
  assert.match(csv, /balance,[^\n]*,70,\r\n$/);
  assert.match(page, /has not ended: entries may be added/);
});

test('200 an operator gets the statement of a closed account', async () => {
  const { accountId } = await newBooks();
  await closeAccountAs(db(), shell, { accountId, reason: 'requested' });
  for (const format of ['csv', 'html']) {
    const path = `/api/admin/v1/credits/statement.${format}`;
    const { status, bytes } = await operator.ask('GET', path, { query: { accountId, month: '2026-01' } });
    assert.equal(status, 200);
    assert.match(bytes.toString(), /1,?305/);
  }
});

test('422 a month that has not begun, or does not exist; 404 an unknown account; 403 a key without the scope', async () => {
  const { accountId, key } = await service.newAccount(70);
  const writer = await service.newAccount(70, ['tasks:write']);
  const month = '2026-01';
  for (const format of ['csv', 'html'] as const) {
    const path = `/api/admin/v1/credits/statement.${format}`;
    for (const none of ['2285-12', '2026-13', '2026-1', '0001-01', 'x']) {
      const message = /^month: must be a month that has begun, such as 2026-01$/;
      const data = { errors: [{ path: 'month', message: 'must be a month that has begun, such as 2026-01' }] };
      assertRefused(await statement(key, format, none), 422, message, data);
      assertRefused(await operator.ask('GET', path, { query: { accountId, month: none } }), 422, message, data);
    }
    const unknown = { accountId: '019abc12-3456-7def-8901-234567890abc', month };
    assertRefused(await operator.ask('GET', path, { query: unknown }), 404, /account/);
    assertRefused(await statement(writer.key, format, month), 403, /lacks the scope credits:read/);
  }
});

test('a month is one of 1970 to 2285, as UTC', () => {
  const first = { month: '1970-01', fromMs: 0, toMs: 31 * 86_400_000 };
  assert.deepEqual(monthOf('1970-01'), first);
  assert.equal(monthOf('2285-12')?.toMs, Date.UTC(2286, 0));
  for (const text of ['1969-12', '2286-01', '2026-00', '2026-13', '2026-1', '26-01', ' 2026-01', '2026-01-01', ''])
    assert.equal(monthOf(text), undefined, text);
});

describe('no entry is missing from a statement:', () => {
  const month = monthOf('2026-01') ?? assert.fail();

  test('every kind of ledger entry has a section with a title, and a sum also without entries', async () => {
    const accountId = await createAccount(db(), { name: 'a', credits: 0 });
    const empty = await readStatement(db(), { accountId, ...month });
    const sections = sumSections(empty).map(({ section }) => section);
    assert.deepEqual([...ledgerKinds, 'code', 'top_up', 'top_up_reversal'].toSorted(), sections.toSorted());
    const page = statementHtml(empty, defaultBrand);
    for (const section of statementSections) assert.ok(page.includes(`<td>${sectionTitle(section)}</td>`), section);
  });

  test('an entry of a kind that this release does not know appears under its own name', async () => {
    const database = await createTestDatabase();
    const accountId = await createAccount(database.db, { name: 'a', credits: 0 });
    await runAsSuperuser(
      database,
      'alter table ledger_entries drop constraint ledger_entries_kind_check',
      `insert into ledger_entries (account_id, kind, amount, balance_after, reason, created_at)
       values ('${accountId}', 'cashback', 5, 5, 'from tomorrow', '2026-01-05T10:00:00Z')`,
      'update accounts set balance = 5',
    );
    const read = await readStatement(database.db, { accountId, ...month });
    await database.close();
    assert.equal(read.closing, 5);
    assert.deepEqual(sumSections(read).at(-1), { section: 'cashback', entries: 1, credits: 5 });
    assert.match(statementHtml(read, defaultBrand), /<h2>cashback<\/h2>[^]*from tomorrow/);
  });

  test('an entry at the first instant of a month belongs to it, and one at its end to the next month', async () => {
    const accountId = await createAccount(db(), { name: 'a', credits: 0 });
    const { fromMs, toMs } = month;
    let balance = 0;
    for (const [reason, amount, ms] of [
      ['before', 1, fromMs - 1],
      ['first', 2, fromMs],
      ['last', 4, toMs - 1],
      ['next', 8, toMs],
    ] as const) {
      balance += amount;
      await runAsSuperuser(
        service.database,
        `insert into ledger_entries (account_id, kind, amount, balance_after, reason, created_at)
         values ('${accountId}', 'grant', ${amount}, ${balance}, '${reason}', to_timestamp(${ms / 1000}))`,
      );
    }
    await runAsSuperuser(service.database, `update accounts set balance = ${balance} where id = '${accountId}'`);
    const { opening, closing, lines } = await readStatement(db(), { accountId, ...month });
    assert.deepEqual([opening, closing, lines.map(({ reason }) => reason)], [1, 7, ['first', 'last']]);
  });

  test('a statement is final five minutes after the end of its month', async () => {
    const frozen = await createFrozenDatabase({ now: '2026-02-01T00:05:00.000Z' });
    try {
      const accountId = await createAccount(frozen.db, { name: 'a', credits: 0 });
      assert.equal((await readStatement(frozen.db, { accountId, ...month })).isFinal, false);
      await frozen.set({ now: '2026-02-01T00:05:00.001Z' });
      assert.equal((await readStatement(frozen.db, { accountId, ...month })).isFinal, true);
    } finally {
      await frozen.close();
    }
  });

  test('bookings beyond the limit are one line with their sum', async () => {
    const accountId = await createAccount(db(), { name: 'a', credits: 0 });
    const more = 3;
    await runAsSuperuser(
      service.database,
      `insert into ledger_entries (account_id, kind, amount, balance_after, reason, created_at)
       select '${accountId}', 'grant', 2, 2 * n, 'gift ' || n, '2026-01-05T10:00:00Z' from generate_series(1, ${maxBookingLines + more}) n`,
      `update accounts set balance = 2 * ${maxBookingLines + more} where id = '${accountId}'`,
    );
    const { lines, closing } = await readStatement(db(), { accountId, ...month });
    assert.equal(lines.length, maxBookingLines + 1);
    assert.deepEqual([lines[0]?.reason, lines[0]?.credits], ['gift 1', 2]);
    const { entries, credits, reason, bookedAt } = lines.at(-1) ?? assert.fail();
    assert.deepEqual([entries, credits, reason, bookedAt], [more, 2 * more, undefined, undefined]);
    assert.equal(closing, 2 * (maxBookingLines + more));
  });

  test('lines that do not lead from one balance to the other are an error, and no statement', async () => {
    const line = { section: 'grant', model: undefined, priceName: undefined, bookedAt: 1, reason: 'x', entries: 1 };
    const figures = { opening: 5, closing: 9, lines: [{ ...line, credits: 4 }] };
    requireStatementAddsUp('it', figures);
    assert.throws(
      () => requireStatementAddsUp('it', { ...figures, closing: 8 }),
      /^Error: it does not add up: its lines lead to 9, the ledger to 8$/,
    );
    const database = await createTestDatabase();
    const accountId = await createAccount(database.db, { name: 'a', credits: 100 });
    const first = '2026-01-05T10:00:00Z';
    await runAsSuperuser(
      database,
      `insert into tasks (id, account_id, model, price_name, param, state, credits_charged, result, request_sha256, deadline_ms, created_at, completed_at)
       select gen_random_uuid(), '${accountId}', 'm', 'standard', '{}', 'success', 1, '{}', sha256(''), 1, '${first}', '${first}'`,
      `insert into ledger_entries (account_id, task_id, kind, amount, balance_after, created_at)
       select account_id, id, 'charge', -1, 99, '${first}' from tasks`,
    );
    await assert.rejects(readStatement(database.db, { accountId, ...month }), /does not add up/);
    await database.close();
  });
});
