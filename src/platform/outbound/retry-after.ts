/** The one date format that RFC 9110 lets a sender write; JavaScript would take "-5" for a date as well. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** RFC 9110: seconds, or an HTTP date. Anything else counts as absent. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const atMs = httpDate.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
