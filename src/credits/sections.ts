import type { LedgerKind } from './credits.ts';
import { codeOfKey } from './redemption-codes.ts';

// The sections of statements and reports: the kinds of ledger entries. Redeemed codes and top-ups are grants, and returned payments are
// adjustments, with sections of their own.

type Section = {
  readonly title: string;
  /** True if customers paid for these credits. */
  readonly isRevenue: boolean;
};

const known = {
  top_up: { title: 'Top-ups', isRevenue: true },
  top_up_reversal: { title: 'Returned payments', isRevenue: true },
  grant: { title: 'Grants', isRevenue: false },
  code: { title: 'Redeemed codes', isRevenue: false },
  charge: { title: 'Charges', isRevenue: false },
  refund: { title: 'Refunds', isRevenue: false },
  adjustment: { title: 'Adjustments', isRevenue: false },
} as const satisfies Record<LedgerKind | 'code' | 'top_up' | 'top_up_reversal', Section>;

const sections: ReadonlyMap<string, Section> = new Map(Object.entries(known));
/** In the order of a statement. */
export const statementSections = [...sections.keys()];

/** A newer release may book kinds that this one does not know; they appear under their own name. */
export function sectionOf(name: string): Section {
  return sections.get(name) ?? { title: name, isRevenue: false };
}

/** SQL: the section of a ledger entry. */
export const sectionOfEntry = `
  case
    when top_up_id is not null then case kind when 'grant' then 'top_up' else 'top_up_reversal' end
    when kind = 'grant' and (${codeOfKey('idempotency_key')}) is not null then 'code'
    else kind
  end`;
