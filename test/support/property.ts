import { runsWholeMatrix } from './tier.ts';

/** Repeats a run of the generated tests. */
export const seedVariable = 'VIDEOGEN_TEST_SEED';

const fixedSeed = 20_261_121;
/** A property that takes so long is stuck, or searches for a smaller counterexample; it fails either way. */
const stuckMs = 5 * 60_000;

/**
 * The seed of generated values: the same in each run of the fast and the full tier, so that red means that the code has changed, and
 * another one in each run of the long tier, which prints it.
 */
export const testSeed = seedOf(process.env[seedVariable]);

/** Parameters for fast-check. The number of runs is what the long tier does; the other tiers do a quarter of it. */
export function runs(wholeNumber: number) {
  const numRuns = runsWholeMatrix ? wholeNumber : Math.ceil(wholeNumber / 4);
  return { seed: testSeed, numRuns, interruptAfterTimeLimit: stuckMs, markInterruptAsFailure: true } as const;
}

function seedOf(wanted: string | undefined): number {
  const seed = wanted === undefined ? fallbackSeed() : Number(wanted);
  if (!Number.isInteger(seed)) throw new Error(`invalid ${seedVariable}: expected an integer`);
  return seed;
}

function fallbackSeed(): number {
  if (!runsWholeMatrix) return fixedSeed;
  const seed = Math.floor(Math.random() * 2 ** 31);
  process.stderr.write(`generated values: repeat this run with ${seedVariable}=${seed}\n`);
  return seed;
}
