import { minorDigits } from '../../catalogue/prices/minor-digits.ts';
import { standardPriceName } from '../../catalogue/prices/model-prices.ts';

const plain = new Intl.NumberFormat('en');
const signed = new Intl.NumberFormat('en', { signDisplay: 'exceptZero' });

/** "9,835". */
export function formatNumber(value: number): string {
  return plain.format(value);
}

/** "165 credits", "1 credit". */
export function formatCredits(value: number): string {
  return `${plain.format(value)}\u00A0${Math.abs(value) === 1 ? 'credit' : 'credits'}`;
}

/** "−132" or "+132", as in a ledger. */
export function SignedAmount({ amount }: { readonly amount: number }) {
  return <span class={amount > 0 ? 'amount plus' : 'amount'}>{signed.format(amount).replace('-', '\u2212')}</span>;
}

/** "−$1.24"; small amounts with as many digits as they have, to a hundredth of a cent. */
export function formatMicros(micros: number, currency: string): string {
  const isSmall = micros !== 0 && Math.abs(micros) < 1_000_000;
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    maximumFractionDigits: isSmall ? 4 : 2,
  });
  return format.format(micros / 1_000_000).replace('-', '\u2212');
}

/** "€9.99" for 999 in the smallest unit of EUR. */
export function formatMinorUnits(minorUnits: number, currency: string): string {
  const digits = minorDigits(currency);
  const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const format = new Intl.NumberFormat('en', { style: 'currency', currency, ...decimals });
  return format.format(minorUnits / 10 ** digits).replace('-', '\u2212');
}

export function formatBytes(count: number): string {
  if (count < 1000) return `${count}\u00A0B`;
  if (count < 1_000_000) return `${(count / 1000).toFixed(0)}\u00A0kB`;
  if (count < 1_000_000_000) return `${(count / 1_000_000).toFixed(1)}\u00A0MB`;
  return `${(count / 1_000_000_000).toFixed(1)}\u00A0GB`;
}

export type CreditsPerSecondAndVideo = { readonly creditsPerSecond: number; readonly creditsPerVideo: number };

/** "33 credits per second of video", "200 credits per video", or both, which add up. */
export function creditPriceWords({ creditsPerSecond, creditsPerVideo }: CreditsPerSecondAndVideo): string {
  const perVideo = `${formatCredits(creditsPerVideo)} per video`;
  if (creditsPerSecond === 0) return perVideo;
  return `${formatCredits(creditsPerSecond)} per second of video${creditsPerVideo === 0 ? '' : ` + ${perVideo}`}`;
}

/** The name of the price of a charge; undefined for that of a model with a single one, which has no meaning. */
export function nonStandardPriceName(name: string | null | undefined): string | undefined {
  return name === null || name === standardPriceName ? undefined : name;
}

/** Below the task that was charged. */
export function PriceNameUnlessStandard({ name }: { readonly name: string | null }) {
  const shown = nonStandardPriceName(name);
  return shown === undefined ? null : (
    <small class="under">
      <bdi>{shown}</bdi>
    </small>
  );
}
