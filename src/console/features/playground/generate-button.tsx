import type { Model } from '../../api/contract.ts';
import { Button } from '../../ui/button.tsx';
import { Sparkles } from '../../ui/icons.ts';
import { amountWords, credits } from '../../ui/money.tsx';
import { ExactTime } from '../../ui/time.tsx';
import type { LivePrice } from './live-price.ts';
import { playgroundText } from './playground-text.ts';

type GenerateProps = {
  readonly model: Model;
  readonly price: LivePrice;
  readonly balance: number | undefined;
  readonly isBusy: boolean;
  readonly disabledReason: string | undefined;
};

/** The price is on the button, and below it the balance that remains and the next change of the price. */
export function GenerateButton({ model, price, balance, isBusy, disabledReason }: GenerateProps) {
  const { now, next, total } = price;
  const left = balance === undefined || now === undefined ? undefined : balance - total;
  const reason = disabledReason ?? (now === undefined ? playgroundText.noPrice : undefined);
  return (
    <div class="stack tight generate">
      <Button
        variant="primary"
        size="wide"
        type="submit"
        busy={isBusy}
        disabledReason={reason ?? (left !== undefined && left < 0 ? playgroundText.tooExpensive : undefined)}
      >
        <Sparkles size={16} aria-hidden="true" /> {playgroundText.generate}
        {now !== undefined && ` · ${credits(total)}`}
      </Button>
      <p class="reason">
        {reason ??
          (left === undefined
            ? '\u00A0'
            : left < 0
              ? playgroundText.topUp(balance ?? 0)
              : playgroundText.remaining(left))}
      </p>
      {next !== undefined && (
        <p class="reason">
          {playgroundText.priceFrom} <ExactTime ms={next.fromMs} />: {priceWords(next, model)}.
        </p>
      )}
    </div>
  );
}

/** "33 credits per second of video", after the name of the price where a model has several. */
export function priceWords(price: LivePrice['now'], { prices }: Model): string {
  if (price === undefined) return '';
  return `${prices.length > 1 ? `${price.name}: ` : ''}${amountWords(price)}`;
}
