import { csvLine } from './csv-line.ts';
import type { AccountStatement } from './account-statement.ts';

const columns = ['month', 'section', 'createTime', 'model', 'priceName', 'entries', 'credits', 'description'] as const;
type Row = { readonly [Column in (typeof columns)[number]]?: string | number | undefined };

/** The balances before and after are rows as well, so the credits of all rows but the last add up to those of the last. */
export function statementCsv(statement: AccountStatement): string {
  const { month, fromMs, toMs, opening, closing, isFinal } = statement;
  const rows: readonly Row[] = [
    { section: 'opening_balance', createTime: isoTime(fromMs), credits: opening },
    ...statement.lines.map(({ bookedAt, reason, ...line }) => ({
      ...line,
      createTime: bookedAt === undefined ? undefined : isoTime(bookedAt),
      description: reason,
    })),
    isFinal
      ? { section: 'closing_balance', createTime: isoTime(toMs), credits: closing }
      : { section: 'balance', createTime: isoTime(statement.createdAt), credits: closing },
  ];
  return [columns, ...rows.map((row) => columns.map((column) => ({ month, ...row })[column]))].map(csvLine).join('');
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
