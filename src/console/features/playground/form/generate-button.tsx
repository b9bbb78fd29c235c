import type { Model } from '../../../api/contract.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Sparkles } from '../../../ui/controls/icons.ts';
import { creditPriceWords, formatCredits } from '../../../ui/number-formats.tsx';
import { ExactTime } from '../../../ui/times-and-durations.tsx';
import { HowToAddCredits } from './how-to-add-credits.tsx';
import type { PriceNowAndNext } from './price-now-and-next.ts';
import { playgroundText } from '../playground-text.ts';
import type { PlannedVideo } from './variants.ts';

type GenerateProps = {
  readonly variants: readonly PlannedVideo[];
  readonly balance: number | undefined;
  readonly isBusy: boolean;
  readonly disabledReason: string | undefined;
};

/** The sum of the prices is on the button, and below it the balance that remains and the next change of a price. */
export function GenerateButton({ variants, balance, isBusy, disabledReason }: GenerateProps) {
  const { length: count } = variants;
  const isPriced = variants.every(({ price }) => price.now !== undefined);
  const total = variants.reduce((sum, { price }) => sum + price.total, 0);
  const left = balance === undefined || !isPriced ? undefined : balance - total;
  const isShort = left !== undefined && left < 0;
  const reason = disabledReason ?? (isPriced ? undefined : playgroundText.noPrice);
  const changing = variants.filter(
    ({ model, price }, index) =>
      price.next !== undefined && variants.findIndex((other) => other.model === model) === index,
  );
  return (
    <>
      <Button
        variant="primary"
        size="wide"
        type="submit"
        busy={isBusy}
        disabledReason={reason ?? (isShort ? playgroundText.tooExpensive(count) : undefined)}
      >
        <Sparkles size={16} aria-hidden="true" />{' '}
        {count === 1 ? playgroundText.generate : playgroundText.generateMany(count)}
        {isPriced && ` · ${formatCredits(total)}`}
      </Button>
      <p class="under">
        {reason ?? balanceWords(balance, left, count)} {reason === undefined && isShort && <HowToAddCredits />}
      </p>
      {changing.map(({ model, price: { next } }) => (
        <p key={model.model} class="under">
          {playgroundText.priceFrom} {next !== undefined && <ExactTime ms={next.fromMs} />}:{' '}
          {namedPriceRateWords(next, model)}.
        </p>
      ))}
    </>
  );
}

function balanceWords(balance: number | undefined, left: number | undefined, count: number): string {
  if (left === undefined) return '\u00A0';
  return left < 0 ? playgroundText.topUp(balance ?? 0, count) : playgroundText.remaining(left);
}

/** "33 credits per second of video", after the name of the price where a model has several. */
export function namedPriceRateWords(price: PriceNowAndNext['now'], { prices }: Model): string {
  if (price === undefined) return '';
  return `${prices.length > 1 ? `${price.name}: ` : ''}${creditPriceWords(price)}`;
}
