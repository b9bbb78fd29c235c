/** A line of CSV (RFC 4180). Text that a spreadsheet would read as a formula is prefixed with `'`. */
export function csvLine(values: readonly (string | number | undefined)[]): string {
  return `${values.map(cell).join(',')}\r\n`;
}

function cell(value: string | number | undefined): string {
  if (typeof value !== 'string') return String(value ?? '');
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
