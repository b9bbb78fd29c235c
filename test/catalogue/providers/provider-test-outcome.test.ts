import assert from 'node:assert/strict';
import { test } from 'node:test';
import { providerTestOutcomes } from '../../../src/catalogue/providers/provider-test-outcome.ts';

test('a test of a provider has an outcome also where no request was possible, or no worker ran it', () => {
  const usual = ['ok', 'responded', 'key_rejected', 'unavailable', 'unreachable'];
  assert.deepEqual(providerTestOutcomes, [...usual, 'not_tested', 'no_worker']);
});
