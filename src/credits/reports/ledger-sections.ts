import type { LedgerKind } from '../ledger/ledger-entries-and-book-credits.ts';
import { codeHashOfIdempotencyKeySql } from '../ledger/redemption-codes.ts';
import { sectionTitles } from './statement-section-titles.ts';

// The sections of statements and reports: the kinds of ledger entries, and some kinds split.

type Known = LedgerKind | 'code' | 'top_up' | 'top_up_reversal';

export const statementSections = Object.keys(sectionTitles satisfies Record<Known, string>);

/** True if customers paid for these credits. */
export const isRevenueSection = (section: string) => section === 'top_up' || section === 'top_up_reversal';

export const entrySectionSql = `
  case
    when top_up_id is not null then case kind when 'grant' then 'top_up' else 'top_up_reversal' end
    when kind = 'grant' and (${codeHashOfIdempotencyKeySql('idempotency_key')}) is not null then 'code'
    else kind
  end`;
