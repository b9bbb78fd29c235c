import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minorDigits } from '../../../src/catalogue/prices/minor-digits.ts';

test('amounts are counted in the unit of the payment provider, which is not always the one that Intl displays', () => {
  const digits = ['EUR', 'JPY', 'KWD', 'ISK', 'UGX'].map((currency) => [currency, minorDigits(currency)]);
  assert.deepEqual(digits, [
    ['EUR', 2],
    ['JPY', 0],
    ['KWD', 3],
    // Neither has decimals in use, but their amounts end with two zeros at Stripe.
    ['ISK', 2],
    ['UGX', 2],
  ]);
});

test('every currency without decimals, or with three, is counted so', () => {
  const whole = [
    'BIF',
    'CLP',
    'DJF',
    'GNF',
    'JPY',
    'KMF',
    'KRW',
    'MGA',
    'PYG',
    'RWF',
    'VND',
    'VUV',
    'XAF',
    'XOF',
    'XPF',
  ];
  assert.deepEqual(new Set(whole.map(minorDigits)), new Set([0]));
  assert.deepEqual(new Set(['BHD', 'JOD', 'KWD', 'OMR', 'TND'].map(minorDigits)), new Set([3]));
});
