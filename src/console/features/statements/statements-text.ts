import { formatNumber } from '../../ui/number-formats.tsx';

/** Every text about statements, besides the titles of their sections. */
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
  more: (lines: number) => `${formatNumber(lines)} more in the CSV`,
  furtherEntries: 'Further entries',
} as const;
