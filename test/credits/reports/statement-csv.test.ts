import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountStatement } from '../../../src/credits/reports/account-statement.ts';
import { statementCsv } from '../../../src/credits/reports/statement-csv.ts';

const none = { model: undefined, priceName: undefined, bookedAt: undefined, reason: undefined };
const statement: AccountStatement = {
  accountId: 'account',
  accountName: 'studio',
  month: '2026-11',
  fromMs: Date.UTC(2026, 10),
  toMs: Date.UTC(2026, 11),
  createdAt: Date.UTC(2026, 10, 29),
  isFinal: true,
  opening: 100,
  closing: 77,
  lines: [
    { ...none, section: 'charge', model: 'm', priceName: 'standard', entries: 3, credits: -30 },
    { ...none, section: 'grant', bookedAt: Date.UTC(2026, 10, 5), reason: 'a gift', entries: 1, credits: 7 },
  ],
};

const lines = [
  'month,section,createTime,model,priceName,entries,credits,description',
  '2026-11,opening_balance,2026-11-01T00:00:00.000Z,,,,100,',
  '2026-11,charge,,m,standard,3,-30,',
  '2026-11,grant,2026-11-05T00:00:00.000Z,,,1,7,a gift',
];

test('a statement as CSV has each value in its column, between the balances of its month', () => {
  const closing = '2026-11,closing_balance,2026-12-01T00:00:00.000Z,,,,77,';
  assert.deepEqual(statementCsv(statement).split('\r\n'), [...lines, closing, '']);
});

test('the balance of a month that is not over is of the time of the statement', () => {
  const balance = '2026-11,balance,2026-11-29T00:00:00.000Z,,,,77,';
  assert.deepEqual(statementCsv({ ...statement, isFinal: false }).split('\r\n'), [...lines, balance, '']);
});
