// Currencies whose smallest unit, as payment providers count it, is not a hundredth. Intl describes how amounts are displayed: it shows no
// decimals of ISK, of which providers count hundredths.
const withoutDecimals = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));
const withThreeDecimals = new Set('BHD JOD KWD OMR TND'.split(' '));

/** Decimals of an amount in the smallest unit of the currency: 2 for EUR, 0 for JPY. */
export function minorDigits(currency: string): number {
  if (withoutDecimals.has(currency)) return 0;
  return withThreeDecimals.has(currency) ? 3 : 2;
}
