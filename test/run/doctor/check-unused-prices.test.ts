import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { unusedPricesFinding } from '../../../src/run/doctor/check-unused-prices.ts';

const { models } = builtInCatalogue();
const priceOf = (priceName: string, accounts = 0) => ({ model: 'removed', priceName, accounts });

test('prices that the catalogue does not have are a warning that names the first five, with the accounts that have them', () => {
  const shown = (names: readonly string[]) =>
    unusedPricesFinding(
      models,
      names.map((name) => priceOf(name)),
    ).message;
  assert.match(shown(['a', 'b', 'c', 'd', 'e']), /: removed 'a', .*, removed 'e'$/);
  assert.match(shown(['a', 'b', 'c', 'd', 'e', 'f']), /, removed 'e' and 1 more$/);
  const finding = unusedPricesFinding(models, [priceOf('a', 2), priceOf('b')]);
  assert.deepEqual([finding.check, finding.state], ['prices', 'warning']);
  assert.match(finding.message, /: removed 'a' \(accounts: 2\), removed 'b'$/);
  assert.equal(unusedPricesFinding(models, []).state, 'ok');
});
