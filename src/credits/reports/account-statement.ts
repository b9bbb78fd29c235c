import type { Database } from '../../platform/database/database.ts';
import { many } from '../../platform/database/declare-statements.ts';
import { entryIdUpperBoundSql, entryIdLowerBoundSql } from '../ledger/ledger-entries-and-book-credits.ts';
import { entrySectionSql, statementSections } from './ledger-sections.ts';

// The statement of an account for a month in UTC: its balance before, its ledger entries, its balance after.

/** Charges and refunds of one price of a model, or one booking. */
export type StatementLine = {
  readonly section: string;
  /** Only for charges and refunds. */
  readonly model: string | undefined;
  readonly priceName: string | undefined;
  /** Only for bookings; undefined for the sum of those beyond the limit. */
  readonly bookedAt: number | undefined;
  readonly reason: string | undefined;
  readonly entries: number;
  /** Signed. */
  readonly credits: number;
};

export type AccountStatement = {
  readonly accountId: string;
  readonly accountName: string;
  /** Such as 2026-11. */
  readonly month: string;
  readonly fromMs: number;
  /** The start of the next month. */
  readonly toMs: number;
  readonly createdAt: number;
  /** False while entries may still be added. */
  readonly isFinal: boolean;
  readonly opening: number;
  readonly closing: number;
  readonly lines: readonly StatementLine[];
};

/** Bookings beyond these are one line. */
export const maxBookingLines = 1_000;

type Month = { readonly accountId: string; readonly fromMs: number; readonly toMs: number };
type Row = Pick<AccountStatement, 'accountName' | 'createdAt' | 'isFinal' | 'opening' | 'closing'> &
  (StatementLine | { readonly section: undefined });

const balanceAt = (entryId: string) => `
  coalesce((select balance_after from ledger_entries where account_id = $1 and id <= ${entryId} order by id desc limit 1), 0)`;
const [from, to] = ['to_timestamp($2::float8 / 1000)', 'to_timestamp($3::float8 / 1000)'];

// A charge is of the time at which its transaction began, so ids and times of entries that are close to each other may be in different
// orders. Both balances begin at an entry that is certainly before the time, and add the amounts of the entries from there on.
const selectStatement = many<Row, [month: Month]>({
  name: 'read-account-statement',
  plannedAnew: true,
  text: `
with account as (
  select name, ${entryIdLowerBoundSql('$1', '$2::float8')} as before_start, ${entryIdLowerBoundSql('$1', '$3::float8')} as before_end,
    ${entryIdUpperBoundSql('$1', '$3::float8')} as after_end
  from accounts where id = $1
), entry as materialized (
  select ledger_entries.* from account join ledger_entries
    on account_id = $1 and id > before_start and id < after_end and created_at < ${to}
), summary as (
  select name as "accountName",
    (${balanceAt('before_start')} + coalesce((select sum(amount) from entry where created_at < ${from}), 0))::bigint as opening,
    (${balanceAt('before_end')} + coalesce((select sum(amount) from entry where id > before_end), 0))::bigint as closing
  from account
), sorted as (
  select *, ${entrySectionSql} as section,
    case when task_id is null and row_number() over (partition by task_id is null order by id) <= ${maxBookingLines} then id end as line
  from entry where created_at >= ${from}
), line as (
  select section, model, price_name, line, count(*)::int as entries, sum(amount)::bigint as credits,
    case when line is not null then min(sorted.created_at) end as created_at, case when line is not null then min(reason) end as reason
  from sorted left join tasks on tasks.id = task_id
  group by section, model, price_name, line
)
select "accountName", opening, closing, now() as "createdAt", now() > ${to} + interval '5 minutes' as "isFinal",
  section, model, price_name as "priceName", created_at as "bookedAt", reason, entries, credits
from summary left join line on true
order by array_position($4::text[], section), section, line, model, price_name`,
  values: ({ accountId, fromMs, toMs }) => [accountId, fromMs, toMs, statementSections],
});

/** The month from `fromMs` to before `toMs`; undefined for text that names no month from 1970 to 2285. */
export function monthOf(text: string): Pick<AccountStatement, 'month' | 'fromMs' | 'toMs'> | undefined {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined || month === undefined || year < '1970' || year > '2285') return undefined;
  return {
    month: text,
    fromMs: Date.UTC(Number(year), Number(month) - 1),
    toMs: Date.UTC(Number(year), Number(month)),
  };
}

/** Throws for an unknown account, and if the lines do not lead from one balance to the other. */
export async function readStatement(
  db: Database,
  { accountId, ...month }: Pick<AccountStatement, 'accountId' | 'month' | 'fromMs' | 'toMs'>,
): Promise<AccountStatement> {
  const rows = await selectStatement(db, { accountId, ...month });
  const [first] = rows;
  if (first === undefined) throw new Error(`account ${accountId} not found`);
  const { accountName, opening, closing, createdAt, isFinal } = first;
  const lines = rows.flatMap((row) => (row.section === undefined ? [] : [lineOf(row)]));
  requireStatementAddsUp(`the statement of account ${accountId} for ${month.month}`, { opening, closing, lines });
  return { accountId, ...month, accountName, createdAt, isFinal, opening, closing, lines };
}

function lineOf({ section, model, priceName, bookedAt, reason, entries, credits }: StatementLine): StatementLine {
  return { section, model, priceName, bookedAt, reason, entries, credits };
}

/** Throws if a statement does not add up, because it must not be sent. */
export function requireStatementAddsUp(
  what: string,
  { opening, closing, lines }: Pick<AccountStatement, 'opening' | 'closing' | 'lines'>,
): void {
  const sum = lines.reduce((balance, { credits }) => balance + credits, opening);
  if (sum !== closing) throw new Error(`${what} does not add up: its lines lead to ${sum}, the ledger to ${closing}`);
}

export type StatementSum = { readonly section: string; readonly entries: number; readonly credits: number };

/** The sums of all known sections, and of others that have entries. */
export function sumSections({ lines }: Pick<AccountStatement, 'lines'>): readonly StatementSum[] {
  return [...new Set([...statementSections, ...lines.map(({ section }) => section)])].map((section) => {
    const own = lines.filter((line) => line.section === section);
    const sumOf = (amount: (line: StatementLine) => number) => own.reduce((sum, line) => sum + amount(line), 0);
    return { section, entries: sumOf(({ entries }) => entries), credits: sumOf(({ credits }) => credits) };
  });
}
