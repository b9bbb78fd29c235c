import type { LedgerKind } from './credits.ts';
import { codeOfKey } from './redemption-codes.ts';
import { sectionTitle, sectionTitles } from './section-titles.ts';

// The sections of statements and reports: the kinds of ledger entries, and some kinds split.

type Section = {
  readonly title: string;
  /** True if customers paid for these credits. */
  readonly isRevenue: boolean;
};

type Known = LedgerKind | 'code' | 'top_up' | 'top_up_reversal';

const revenue: ReadonlySet<string> = new Set(['top_up', 'top_up_reversal'] satisfies Known[]);
/** In the order of a statement. */
export const statementSections = Object.keys(sectionTitles satisfies Record<Known, string>);

export function sectionOf(name: string): Section {
  return { title: sectionTitle(name), isRevenue: revenue.has(name) };
}

/** SQL: the section of a ledger entry. */
export const sectionOfEntry = `
  case
    when top_up_id is not null then case kind when 'grant' then 'top_up' else 'top_up_reversal' end
    when kind = 'grant' and (${codeOfKey('idempotency_key')}) is not null then 'code'
    else kind
  end`;
