/** So many events in so much time: a burst of `quota`, and on average no more (GCRA, the generic cell rate algorithm). */
export type Rate = { readonly quota: number; readonly windowMs: number };

/** What is left of a rate: so many events now, and one more in `nextInMs`, or `nextSeconds` (a whole number, 1 at least). */
export type RateLeft = { readonly remaining: number; readonly nextInMs: number; readonly nextSeconds: number };

/**
 * GCRA remembers one instant: when the next event would be due if events came evenly. `dueInMs` is how far off that is
 * (negative or zero: long past). An event may come early by up to a window less one interval.
 */
export function rateLeft({ quota, windowMs }: Rate, dueInMs: number): RateLeft {
  const intervalMs = windowMs / quota;
  // A billionth of an event forgives rounding, which would otherwise make a client wait for an event that is there.
  const remaining = Math.min(quota, Math.max(0, Math.floor((windowMs - Math.max(0, dueInMs)) / intervalMs + 1e-9)));
  const nextInMs = Math.max(0, dueInMs) + (remaining + 1) * intervalMs - windowMs;
  return { remaining, nextInMs, nextSeconds: Math.max(1, Math.ceil(nextInMs / 1000)) };
}

/** Units of time as settings and commands spell them, in milliseconds. */
export const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads `20/10s` (or m, h); `off` is no limit, which is undefined. Throws for anything else. */
export function parseRate(text: string): Rate | undefined {
  if (text === 'off') return undefined;
  const [, quota, length, unit] = /^(\d{1,7})\/(\d{1,5})([smh])$/.exec(text) ?? [];
  const windowMs = Number(length) * (unitsMs[unit ?? ''] ?? NaN);
  if (!(Number(quota) > 0 && windowMs > 0)) throw new Error('must be a rate such as 20/10s, or off');
  return { quota: Number(quota), windowMs };
}
