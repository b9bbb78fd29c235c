import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { costRuleSchema, estimateCost } from '../../../src/catalogue/prices/upstream-cost.ts';

const input = { resolution: '720p', duration: 5, ratio: '16:9' } as const;

function microsOf(value: unknown): number | undefined {
  return costRuleSchema.safeParse({ perJob: value }).data?.perJob;
}

test('a price is exact to the millionth, whether the file has it as number or as text', () => {
  fc.assert(
    fc.property(fc.nat({ max: 999_999 }), fc.nat({ max: 999_999 }), (whole, millionths) => {
      const text = `${whole}.${String(millionths).padStart(6, '0')}`;
      assert.equal(microsOf(text), whole * 1_000_000 + millionths);
      assert.equal(microsOf(Number(text)), whole * 1_000_000 + millionths);
    }),
    { seed: 20_261_122, numRuns: 5_000 },
  );
  assert.deepEqual(['0.2419', 0.2419, '5.60', 0, '7'].map(microsOf), [241_900, 241_900, 5_600_000, 0, 7_000_000]);
});

test('what is no plain decimal, is negative, finer than a millionth or too large is refused', () => {
  const wrong = ['-1', -1, '1e3', 1e-7, '0.0000001', '', ' 1', '1.', '.5', '1,5', '0x10', 1_000_000, '1000000', NaN];
  for (const value of [...wrong, Infinity, true, null, [], {}])
    assert.equal(microsOf(value), undefined, inspect(value));
});

test('a rule without any price is refused, for unknown is not free', () => {
  assert.equal(costRuleSchema.safeParse({ currency: 'USD' }).success, false);
  for (const currency of ['usd', 'USDT', 'xUSD', 'US'])
    assert.equal(costRuleSchema.safeParse({ perJob: 0, currency }).success, false, currency);
  assert.equal(costRuleSchema.parse({ perJob: 0 }).currency, 'USD');
});

test('tokens are estimated as video models count them until the upstream reports them', () => {
  const rule = costRuleSchema.parse({ perMillionTokens: '5.60' });
  assert.deepEqual(estimateCost(rule, { input }), { micros: 604_800, currency: 'USD', basis: 'estimated' });
  assert.equal(estimateCost(rule, { input, tokens: 108_900 })?.micros, 609_840);
  const hd = { ...input, resolution: '1080p' } as const;
  assert.equal(estimateCost(rule, { input: hd })?.micros, 1_360_800, 'as many more as it has pixels');
});

test('prices add up: of a job, of its seconds, of the time that it took', () => {
  const rule = costRuleSchema.parse({ perJob: '0.01', perSecond: '0.2419', perGpuSecond: '0.0011', currency: 'EUR' });
  const micros = 10_000 + 5 * 241_900 + 94_050;
  assert.deepEqual(estimateCost(rule, { input, gpuMs: 85_500 }), { micros, currency: 'EUR', basis: 'estimated' });
});

test('a price of time has no estimate before the end of the job', () => {
  assert.equal(estimateCost(costRuleSchema.parse({ perJob: 1, perGpuSecond: 1 }), { input }), undefined);
});

test('every estimate is a whole number of micro-units, half of one rounded up', () => {
  const rule = costRuleSchema.parse({ perGpuSecond: '0.000001' });
  const ms = [0, 499, 500, 1_499, 1_500];
  assert.deepEqual(
    ms.map((gpuMs) => estimateCost(rule, { input, gpuMs })?.micros),
    [0, 0, 1, 1, 2],
  );
});

test('the first case that matches the input replaces the other prices', () => {
  const rule = costRuleSchema.parse({
    perSecond: 1,
    cases: [
      { when: { resolution: '1080p', generateAudio: true }, perSecond: 3 },
      { when: { resolution: '1080p' }, perJob: 2 },
      { when: { videoUrls: 'present' }, perSecond: 4 },
    ],
  });
  const microsFor = (more: object) => estimateCost(rule, { input: { ...input, ...more } })?.micros;
  assert.equal(microsFor({}), 5_000_000);
  assert.equal(microsFor({ resolution: '1080p', generateAudio: true }), 15_000_000);
  assert.equal(microsFor({ resolution: '1080p', generateAudio: false }), 2_000_000);
  assert.equal(microsFor({ videoUrls: ['https://x.example/a.mp4'] }), 20_000_000);
});

test('a case without a price, or with an unknown condition, is refused', () => {
  const problemOf = (one: object) => costRuleSchema.safeParse({ perJob: 1, cases: [one] }).success;
  assert.equal(problemOf({ when: { resolution: '1080p' } }), false);
  assert.equal(problemOf({ when: { colour: 'red' }, perJob: 1 }), false);
});
