import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PaymentHealth } from '../../../src/credits/payments/payment-health.ts';
import { paymentHealthFinding, type PaymentsToCheck } from '../../../src/run/doctor/check-payment-health.ts';
import { invalidResultsFinding } from '../../../src/run/doctor/check-models-with-unusable-videos.ts';

const hourMs = 3_600_000;
const now = 1_790_000_000_000;
const health: PaymentHealth = { ungranted: 0, examples: [], recent: 7, recentLate: 0, reconciledAt: now, now };
const [off, live, trial] = [undefined, { isTest: false }, { isTest: true }];
const examples = ['cs_1', 'cs_2', 'cs_3'];

/** The finding has these words, which name its reason. */
const rows: readonly [PaymentsToCheck['provider'], number, Partial<PaymentHealth>, string, RegExp][] = [
  [off, 0, { ungranted: 1, examples: ['cs_1'] }, 'error', /: cs_1$/],
  [off, 0, { ungranted: 3, examples }, 'error', /cs_1, cs_2, cs_3$/],
  [live, 2, { ungranted: 5, examples, recentLate: 1 }, 'error', /cs_3 and 2 more$/],
  [off, 0, {}, 'ok', /^off/],
  [off, 2, {}, 'warning', /^off.* 2 packages/],
  [live, 0, { recentLate: 1 }, 'warning', /nothing is for sale/],
  [live, 2, { recentLate: 3 }, 'warning', /^3 of 7 payments(?!.*test mode)/],
  [trial, 2, { recentLate: 3 }, 'warning', /^3 of 7 payments.*test mode/],
  [live, 2, { reconciledAt: now - 3 * hourMs }, 'ok', /^2 packages.* 7 payments/],
  [live, 2, { reconciledAt: now - 3 * hourMs - 1 }, 'warning', /for 3 hours$/],
  [live, 2, { reconciledAt: 0 }, 'warning', /^never compared/],
  [trial, 2, {}, 'warning', /^test mode/],
];

for (const [provider, packages, changed, state, words] of rows) {
  test(`payments that are ${provider === undefined ? 'off' : `on (test: ${provider.isTest})`}, with ${packages} packages and ${JSON.stringify(changed)}, are ${state}`, () => {
    const finding = paymentHealthFinding({ provider, packages }, { ...health, ...changed });
    assert.deepEqual([finding.check, finding.state], ['payments', state]);
    assert.match(finding.message, words);
  });
}

test('models whose videos fall short are a warning that names the first three', () => {
  const models = ['a', 'b', 'c', 'd'].map((model, index) => ({ model, tasks: index + 1, failMsg: `why ${model}` }));
  assert.equal(invalidResultsFinding([]).state, 'ok');
  const three = invalidResultsFinding(models.slice(0, 3));
  assert.equal(three.state, 'warning');
  assert.match(three.message, /1 of a \(.*why a\), 2 of b \(.*why b\), 3 of c \(.*why c\)$/);
  assert.match(invalidResultsFinding(models).message, /why c\) and those of 1 more models$/);
});
