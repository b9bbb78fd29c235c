const nameFormat = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** In UTC, as the service names it: "2026-11". */
export function thisMonth(): string {
  return new Date().toISOString().slice(0, 7);
}

/** "November 2026"; other text as it is. */
export function monthName(month: string): string {
  const ms = Date.parse(`${month}-01T00:00:00Z`);
  return Number.isNaN(ms) ? month : nameFormat.format(ms);
}

/** Months in a list; those before have empty statements at most, for an account of ten years. */
const maxMonths = 120;

/** From this month on until the current one. */
export function monthsSince(first: string): readonly string[] {
  const [year = 0, month = 0] = thisMonth().split('-').map(Number);
  return Array.from({ length: maxMonths }, (_month, back) =>
    new Date(Date.UTC(year, month - 1 - back)).toISOString().slice(0, 7),
  ).filter((one) => one >= first);
}
