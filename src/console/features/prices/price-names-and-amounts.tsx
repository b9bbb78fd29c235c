import { conditionsOf, type PriceConditions } from '../../../catalogue/prices/model-prices.ts';
import type { Answer } from '../../api/call.ts';
import type { ModelPrice } from '../../api/contract.ts';
import type { CreditsPerSecondAndVideo } from '../../ui/number-formats.tsx';
import { fieldWord, valueWord } from '../models/models-text.ts';
import { pricesText } from './prices-text.ts';

export type PricedModel = Answer<'/api/admin/v1/prices'>['models'][number];
/** One of the prices of a model. `isOnly`: it has no other. */
export type PriceWithModel = Pick<PricedModel, 'model' | 'title'> & {
  readonly price: ModelPrice;
  readonly isOnly: boolean;
};

/** A model, and which of its prices. */
export function ModelAndPriceName({ model, name }: { readonly model: string; readonly name: string }) {
  return (
    <>
      <code class="nowrap">{model}</code>
      <small class="under">
        <bdi>{name}</bdi>
      </small>
    </>
  );
}

/** "33/s" above "7/video", which add up. */
export function ShortCreditAmounts({
  of: { creditsPerSecond, creditsPerVideo },
}: {
  readonly of: CreditsPerSecondAndVideo;
}) {
  return (
    <>
      {creditsPerSecond > 0 && <div class="nowrap">{pricesText.amountPerSecond(creditsPerSecond)}</div>}
      {creditsPerVideo > 0 && <div class="nowrap">{pricesText.amountPerVideo(creditsPerVideo)}</div>}
    </>
  );
}

/** "1080p, with sound, without reference images". `isOnly`: the model has no other price. */
export function conditionWords(when: PriceConditions, isOnly: boolean): string {
  const words = conditionsOf(when).map(({ field, option, value }) => {
    if (option !== undefined) return `${fieldWord(option).toLowerCase()}: ${valueWord(option, value).toLowerCase()}`;
    if (field === 'resolution') return String(value);
    const name = fieldWord(field).toLowerCase();
    return value === true || value === 'present' ? pricesText.with(name) : pricesText.without(name);
  });
  if (words.length > 0) return words.join(', ');
  return isOnly ? pricesText.everyVideo : pricesText.everyOtherVideo;
}

type AmountsFrom = ModelPrice['rates'][number];

/** The amounts in force, if the price has begun, and those that are announced. */
export function currentAndAnnouncedAmounts(
  { rates }: Pick<ModelPrice, 'rates'>,
  nowMs: number,
): { current: AmountsFrom | undefined; announced: readonly AmountsFrom[] } {
  return {
    current: rates.findLast(({ fromTime }) => fromTime <= nowMs),
    announced: rates.filter(({ fromTime }) => fromTime > nowMs),
  };
}
