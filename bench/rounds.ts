import type { Bench } from './bench.ts';
import { processorTimes, shareOfOthers } from './processor.ts';

/**
 * The number is odd, so that a median is a measured value. One round shows that
 * the bench works.
 */
const roundsOf = ({ quick }: Pick<Bench, 'quick'>) => (quick ? 1 : 3);
/**
 * The number of rounds that may replace disturbed ones; the calmest rounds
 * count.
 */
const spareRounds = 2;
/**
 * A round is disturbed if other programs use more than this share of the
 * machine, or if one of its measurements fails.
 */
const disturbedShare = 0.15;
/** The disturbance of a round in which a measurement failed. */
const incomplete = Infinity;

type Measurements = Readonly<Record<string, (() => Promise<unknown>) | undefined>>;
type Results<M extends Measurements> = { [Name in keyof M]: Awaited<ReturnType<NonNullable<M[Name]>>>[] };
type Round = { readonly results: ReadonlyMap<string, unknown>; readonly disturbance: number };

let repeated = 0;
let failed = 0;

/**
 * Returns the numbers of repeated rounds and of failed measurements since the
 * bench began.
 */
export function disturbances(): { readonly repeated: number; readonly failed: number } {
  return { repeated, failed };
}

/**
 * Runs several measurements alternately, `rounds` times each, in reverse order
 * in every second round, so that a drift of the machine affects all of them
 * alike. Returns the values of each: fewer for one that failed in some rounds,
 * none for one that is undefined. Rejects if one failed in every round.
 */
export async function interleaved<M extends Measurements>(
  bench: Pick<Bench, 'quick'>,
  measurements: M,
): Promise<Results<M>> {
  const rounds = roundsOf(bench);
  const names = Object.keys(measurements);
  const done: Round[] = [];
  const isCalm = ({ disturbance }: Round) => (bench.quick ? disturbance < incomplete : disturbance <= disturbedShare);
  const calm = () => done.filter(isCalm).length;
  while (done.length < rounds + spareRounds && calm() < rounds) {
    done.push(await oneRound(measurements, done.length % 2 === 0 ? names : names.toReversed()));
  }
  repeated += done.length - rounds;
  const calmest = done.toSorted((one, other) => one.disturbance - other.disturbance).slice(0, rounds);
  const valuesOf = (name: string) => calmest.flatMap(({ results }) => (results.has(name) ? [results.get(name)] : []));
  const failing = names.filter((name) => measurements[name] !== undefined && valuesOf(name).length === 0);
  if (failing.length > 0) throw new Error(`failed in every round: ${failing.join(', ')}`);
  // Each name has the values that its own measurement returned.
  return Object.fromEntries(names.map((name) => [name, valuesOf(name)])) as Results<M>;
}

async function oneRound(measurements: Measurements, names: readonly string[]): Promise<Round> {
  const before = await processorTimes();
  const results = new Map<string, unknown>();
  let isWhole = true;
  for (const name of names) {
    try {
      const measured = await measurements[name]?.();
      if (measured !== undefined) results.set(name, measured);
    } catch (error) {
      [isWhole, failed] = [false, failed + 1];
      process.stderr.write(`${name} gave no figure in this round: ${String(error)}\n`);
    }
  }
  return { results, disturbance: isWhole ? shareOfOthers(before, await processorTimes()) : incomplete };
}
