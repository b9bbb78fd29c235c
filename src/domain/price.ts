/** The price of a second of video from an instant on. */
export type Price = {
  /** Whole credits for one second of video. */
  readonly creditsPerSecond: number;
  /** Unix milliseconds from which the price counts, for tasks created at or after that instant. */
  readonly fromMs: number;
};

/** A price that an operator has set; without credits it ends what was set before. */
export type DecidedPrice = Omit<Price, 'creditsPerSecond'> & { readonly creditsPerSecond: number | undefined };

/**
 * Everything that decides what a second of one model costs one account. The account's own price counts before the general
 * one, and both before the catalogue's. Decided prices stand in order: of two from the same instant the later one counts.
 */
export type PriceSchedule = {
  readonly own: readonly DecidedPrice[];
  readonly general: readonly DecidedPrice[];
  readonly listed: readonly Price[];
};

/**
 * Credits for a second of video, for a task created at an instant (Unix milliseconds). src/stores/accept-statement.ts charges by
 * the same rule in SQL. Throws when no price has begun, which the loader of the catalogue refuses.
 */
export function priceAt({ own, general, listed }: PriceSchedule, atMs: number): number {
  const price =
    inForce(own, atMs)?.creditsPerSecond ??
    inForce(general, atMs)?.creditsPerSecond ??
    inForce(listed, atMs)?.creditsPerSecond;
  if (price === undefined) throw new Error(`no price is in force at ${atMs}`);
  return price;
}

/** The prices that are announced, the next one first: each with the instant at which it replaces the one before. */
export function comingPrices(schedule: PriceSchedule, nowMs: number): readonly Price[] {
  const coming = [...schedule.own, ...schedule.general, ...schedule.listed].map(({ fromMs }) => fromMs);
  const instants = [...new Set(coming.filter((fromMs) => fromMs > nowMs))].toSorted((a, b) => a - b);
  const prices = instants.map((fromMs) => ({ creditsPerSecond: priceAt(schedule, fromMs), fromMs }));
  return prices.filter(({ creditsPerSecond }, index) => {
    const before = prices[index - 1]?.creditsPerSecond ?? priceAt(schedule, nowMs);
    return creditsPerSecond !== before;
  });
}

/** The price with the latest beginning that has come; of several, the last in the list. */
function inForce<Dated extends DecidedPrice>(prices: readonly Dated[], atMs: number): Dated | undefined {
  return prices
    .filter(({ fromMs }) => fromMs <= atMs)
    .toSorted((a, b) => a.fromMs - b.fromMs)
    .at(-1);
}
