/** In the order of a statement. Redeemed codes and top-ups are grants, and returned payments are adjustments, with sections of their own. */
export const sectionTitles = {
  top_up: 'Top-ups',
  top_up_reversal: 'Returned payments',
  grant: 'Grants',
  code: 'Redeemed codes',
  charge: 'Charges',
  refund: 'Refunds',
  partial_refund: 'Partial refunds',
  adjustment: 'Adjustments',
} as const;

/** A newer release may book kinds that this one does not know; they appear under their own name. */
export function sectionTitle(name: string): string {
  const titles: Readonly<Record<string, string>> = sectionTitles;
  return titles[name] ?? name;
}
