import { runsWholeMatrix, seedVariable } from './tier.ts';

/** For a file that runs without the runner, which sets another seed in each run. */
const defaultSeed = 20_261_121;
/** A property that takes so long is stuck, or searches for a smaller counterexample; it fails either way. */
const stuckMs = 5 * 60_000;

const seed = Number(process.env[seedVariable] ?? defaultSeed);

/** Parameters for fast-check. The number of runs is what the long tier does; the other tiers do a quarter of it. */
export function runs(wholeNumber: number) {
  const numRuns = runsWholeMatrix ? wholeNumber : Math.ceil(wholeNumber / 4);
  return { seed, numRuns, interruptAfterTimeLimit: stuckMs, markInterruptAsFailure: true } as const;
}
