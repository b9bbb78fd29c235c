// Currencies whose smallest unit, as payment providers count it, is not a hundredth. Intl knows how amounts are displayed, which differs
// for some: it shows no decimals of ISK, of which providers count hundredths.
const digits: Readonly<Record<string, number>> = Object.fromEntries([
  ...'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' ').map((currency) => [currency, 0]),
  ...'BHD JOD KWD OMR TND'.split(' ').map((currency) => [currency, 3]),
]);

/** Decimals of an amount in the smallest unit of the currency: 2 for EUR, 0 for JPY. */
export function minorDigits(currency: string): number {
  return digits[currency] ?? 2;
}
