/**
 * How much a run of the tests proves; each tier includes the ones before it. The name of a test file says where it starts to run:
 * `x.test.ts` in every tier, `x.full.test.ts` in `full` and `long`, `x.long.test.ts` in `long` only. docs/testing.md describes them.
 */
export const tiers = ['fast', 'full', 'long'] as const;
export type Tier = (typeof tiers)[number];

/** Set by the runner for each test file. */
export const tierVariable = 'VIDEOGEN_TEST_TIER';

/** An integer from which tests derive what they choose at random. Set by the runner, which prints it, unless it is given. */
export const seedVariable = 'VIDEOGEN_TEST_SEED';

/** Matrices run in full in `long` only. The other tiers take a sample of each class of a matrix. */
export const runsWholeMatrix = process.env[tierVariable] === 'long';

/** How many creates of one SDK lose their first response. */
export const lostCreates = runsWholeMatrix ? 200 : 20;

/** The tier in which a file starts to run. */
export function tierOf(file: string): Tier {
  return tiers.find((tier) => new RegExp(`\\.${tier}\\.test\\.[jt]s$`).test(file)) ?? 'fast';
}
