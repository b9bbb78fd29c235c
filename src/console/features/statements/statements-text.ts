import { number } from '../../ui/money.tsx';

// Every text about statements.

const sections: Readonly<Record<string, string>> = {
  top_up: 'Purchases',
  top_up_reversal: 'Refunded purchases',
  grant: 'Grants',
  code: 'Redeemed codes',
  charge: 'Charges',
  refund: 'Refunds for failed tasks',
  adjustment: 'Adjustments',
};

/** The title of a section, also of one that is newer than this page. */
export function sectionTitle(section: string): string {
  return sections[section] ?? section;
}

export const statementsText = {
  title: 'Statement',
  month: 'Month',
  caption: (month: string) => `Statement for ${month}`,
  entry: 'Entry',
  entries: 'Entries',
  credits: 'Credits',
  opening: (day: string) => `Opening balance on ${day}`,
  closing: (day: string) => `Closing balance on ${day}`,
  current: 'Current balance',
  notFinal: 'This month isn’t over, so entries may still be added. Days are in UTC.',
  final: 'Days are in UTC.',
  print: 'Print or save as PDF',
  csv: 'CSV',
  more: (lines: number) => `${number(lines)} more in the CSV`,
  furtherEntries: 'Further entries',
} as const;
