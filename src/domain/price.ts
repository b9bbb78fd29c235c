import type { Rate } from './models.ts';

/** What an operator decided that a second costs from an instant on; without credits it ends what was decided before. */
export type DecidedRate = Omit<Rate, 'creditsPerSecond'> & { readonly creditsPerSecond: number | undefined };

/**
 * Everything that has a say in what a second of one model costs one account. The account's own rate counts before that for
 * everybody, and both before the catalogue's. Decided rates stand in order: of two from the same instant the later one counts.
 */
export type PriceSchedule = {
  readonly own: readonly DecidedRate[];
  readonly general: readonly DecidedRate[];
  readonly listed: readonly Rate[];
};

/**
 * Credits for a second of video, for a task created at an instant (Unix milliseconds). src/stores/accept-task.ts charges by
 * the same rule in SQL. Throws when no rate has begun, which the loader of the catalogue refuses.
 */
export function priceAt({ own, general, listed }: PriceSchedule, atMs: number): number {
  const price =
    inForce(own, atMs)?.creditsPerSecond ??
    inForce(general, atMs)?.creditsPerSecond ??
    inForce(listed, atMs)?.creditsPerSecond;
  if (price === undefined) throw new Error(`no rate is in force at ${atMs}`);
  return price;
}

/** The prices that are announced: each with the instant at which it takes the place of the one before, the next one first. */
export function comingPrices(schedule: PriceSchedule, nowMs: number): readonly Rate[] {
  const coming = [...schedule.own, ...schedule.general, ...schedule.listed].map(({ fromMs }) => fromMs);
  const instants = [...new Set(coming.filter((fromMs) => fromMs > nowMs))].toSorted((a, b) => a - b);
  const prices = instants.map((fromMs) => ({ creditsPerSecond: priceAt(schedule, fromMs), fromMs }));
  return prices.filter(({ creditsPerSecond }, index) => {
    const before = prices[index - 1]?.creditsPerSecond ?? priceAt(schedule, nowMs);
    return creditsPerSecond !== before;
  });
}

/** The rate with the latest beginning that has come; of several, the last in the list. */
function inForce<Dated extends DecidedRate>(rates: readonly Dated[], atMs: number): Dated | undefined {
  return rates
    .filter(({ fromMs }) => fromMs <= atMs)
    .toSorted((a, b) => a.fromMs - b.fromMs)
    .at(-1);
}
