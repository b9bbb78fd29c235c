import { Sparkles } from './icons.ts';
import type { Model } from '../../api/contract.ts';
import { Button } from '../../ui/button.tsx';
import { credits, number, amountWords } from '../../ui/money.tsx';
import { ExactTime } from '../../ui/time.tsx';
import type { LivePrice } from './playground-price.ts';

type GenerateProps = {
  readonly model: Model;
  readonly price: LivePrice;
  readonly balance: number | undefined;
  readonly isBusy: boolean;
  readonly disabledReason: string | undefined;
};

/** The price is on the button, and the balance after it below: prices of the account's own and announced changes included. */
export function GenerateButton({ model, price, balance, isBusy, disabledReason }: GenerateProps) {
  const { now, next, total } = price;
  const left = balance === undefined || now === undefined ? undefined : balance - total;
  const reason = disabledReason ?? (now === undefined ? 'This input has no price yet' : undefined);
  return (
    <div class="stack tight generate">
      <Button
        look="primary"
        size="wide"
        type="submit"
        busy={isBusy}
        disabledReason={
          reason ?? (left !== undefined && left < 0 ? 'The balance does not cover this video' : undefined)
        }
      >
        <Sparkles size={16} aria-hidden="true" /> Generate{now !== undefined && ` · ${credits(total)}`}
      </Button>
      <p class="reason">
        {reason ??
          (left === undefined
            ? '\u00A0'
            : left < 0
              ? `The balance of ${credits(balance ?? 0)} does not cover it. Ask an operator for a grant.`
              : `${number(left)} left after it`)}
      </p>
      {next !== undefined && (
        <p class="reason">
          From <ExactTime ms={next.fromMs} />: {priceWords(next, model)}.
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
