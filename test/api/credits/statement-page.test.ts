import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statementHtml } from '../../../src/api/credits/statement-page.ts';
import type { AccountStatement } from '../../../src/credits/reports/account-statement.ts';

const line = { model: undefined, priceName: undefined, bookedAt: undefined, reason: undefined };
const statement: AccountStatement = {
  accountId: 'account',
  accountName: 'studio',
  month: '2026-02',
  fromMs: Date.UTC(2026, 1),
  toMs: Date.UTC(2026, 2),
  createdAt: Date.UTC(2026, 2, 1, 0, 5),
  isFinal: true,
  opening: 1_000,
  closing: -1_235,
  lines: [
    { ...line, section: 'grant', bookedAt: Date.UTC(2026, 1, 28, 23), reason: 'thanks', entries: 1, credits: 5 },
    { ...line, section: 'grant', entries: 1_200, credits: 10 },
    { ...line, section: 'charge', model: 'm', priceName: 'standard', entries: 2, credits: -2_000 },
    { ...line, section: 'charge', model: 'n', priceName: '1080p', entries: 1, credits: -250 },
  ],
};

/** The text of a page: a line per row of a table, with its cells. */
function textOf(page: string): readonly string[] {
  const text = page
    .replace(/<style>[^]*<\/style>/, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/<\/(?:td|th|dt)>/g, '|')
    .replaceAll(/<\/(?:tr|p|h\d|dd|title)>/g, '\n')
    .replaceAll(/<[^>]*>/g, '');
  return text
    .split('\n')
    .map((one) => one.replaceAll(/ *\| */g, '|').trim())
    .filter((one) => one !== '');
}

const sums = [
  'Opening balance on 2026-02-01||1,000|',
  'Top-ups|0|0|',
  'Returned payments|0|0|',
  'Grants|1,201|15|',
  'Redeemed codes|0|0|',
  'Charges|3|−2,250|',
  'Refunds|0|0|',
  'Partial refunds|0|0|',
  'Adjustments|0|0|',
];
const details = [
  'Grants',
  'Date|Description|Entries|Credits|',
  '2026-02-28|thanks|1|5|',
  '|1,200 further entries|1,200|10|',
  'Charges',
  'Model|Price|Tasks|Credits|',
  'm|standard|2|−2,000|',
  'n|1080p|1|−250|',
];

test('a statement has its period, both balances, each sum, and the details of the sections that have entries', () => {
  assert.deepEqual(textOf(statementHtml(statement, { name: 'Videogen', support: 'mailto:help@example.com' })), [
    'Statement for February 2026: studio',
    'Videogen',
    'Statement for February 2026',
    'Account|studio',
    'Account id|account',
    'Period|2026-02-01 to 2026-02-28 (UTC)',
    'Created|2026-03-01 00:05 UTC',
    '|Entries|Credits|',
    ...sums,
    'Closing balance on 2026-02-28||−1,235|',
    ...details,
    'Questions: help@example.com',
  ]);
});

test('a month that has not ended has the balance of now and says so; without an address there are no questions', () => {
  const current = { ...statement, isFinal: false, createdAt: Date.UTC(2026, 1, 20, 9, 30) };
  const text = textOf(statementHtml(current, { name: 'Videogen', support: undefined }));
  assert.deepEqual(text.slice(6), [
    'Created|2026-02-20 09:30 UTC',
    'The month 2026-02 has not ended: entries may be added.',
    '|Entries|Credits|',
    ...sums,
    'Balance on 2026-02-20 09:30 UTC||−1,235|',
    ...details,
  ]);
});
