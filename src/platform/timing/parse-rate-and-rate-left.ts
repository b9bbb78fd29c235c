/** A burst of `quota` events, and on average no more than `quota` per window (GCRA, the generic cell rate algorithm). */
export type Rate = { readonly quota: number; readonly windowMs: number };

/** `remaining` events now, and one more in `nextSeconds` (a whole number, at least 1). */
export type RateLeft = { readonly remaining: number; readonly nextSeconds: number };

/** `dueInMs`: the time until the next event is due if events were evenly spaced. An event may be early by a window less one interval. */
export function rateLeft({ quota, windowMs }: Rate, dueInMs: number): RateLeft {
  const intervalMs = windowMs / quota;
  // The billionth absorbs rounding errors.
  const remaining = Math.min(quota, Math.max(0, Math.floor((windowMs - Math.max(0, dueInMs)) / intervalMs + 1e-9)));
  const nextInMs = Math.max(0, dueInMs) + (remaining + 1) * intervalMs - windowMs;
  return { remaining, nextSeconds: Math.max(1, Math.ceil(nextInMs / 1000)) };
}

export const millisecondsOfUnit: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `20/10s` (or m, h); `off` returns undefined, which means no limit. */
export function parseRate(text: string): Rate | undefined {
  if (text === 'off') return undefined;
  const [, quota, length, unit] = /^(\d{1,7})\/(\d{1,5})([smh])$/.exec(text) ?? [];
  const windowMs = Number(length) * (millisecondsOfUnit[unit ?? ''] ?? NaN);
  if (!(Number(quota) > 0 && windowMs > 0)) throw new Error('must be a rate such as 20/10s, or off');
  return { quota: Number(quota), windowMs };
}
