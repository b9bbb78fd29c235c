import type { Model } from '../../../api/contract.ts';
import {
  creditsForDuration,
  type AmountsWithPriceName,
  type PricedInput,
  priceOfInputAt,
} from '../../../../catalogue/prices/model-prices.ts';
import { isObject, type InputValues } from '../../models/field-schema-helpers.ts';
import { defaultInputOf } from './form-fields-from-input-schema.ts';

export type PriceNowAndNext = {
  /** Undefined if no price of the model has begun for this input. */
  readonly now: AmountsWithPriceName | undefined;
  /** The credits for a video of the requested length. */
  readonly total: number;
  /** The next announced change of the price for this input. */
  readonly next: AmountsWithPriceName | undefined;
};

/** The price of a request, by the same functions as the API's. A price that was announced when the models were read may have begun since. */
export function computePriceNowAndNext(model: Model, sent: InputValues, nowMs: number): PriceNowAndNext {
  const rows = model.prices.map(({ rates, ...price }) => ({
    ...price,
    amounts: rates.map(({ fromTime, ...credits }) => ({ ...credits, fromMs: fromTime })),
  }));
  const input = accepted(model, sent);
  const now = priceOfInputAt(rows, input, nowMs);
  const changes = rows
    .flatMap(({ amounts }) => amounts.map(({ fromMs }) => fromMs))
    .filter((fromMs) => fromMs > nowMs)
    .toSorted((a, b) => a - b);
  const prices = changes.map((atMs) => priceOfInputAt(rows, input, atMs));
  const next = prices.find((price) => price !== undefined && price.fromMs !== now?.fromMs);
  return { now, next, total: now === undefined ? 0 : creditsForDuration(now, Number(input['duration'])) };
}

/** The input as the API completes it: also fields that leave no choice may decide the price. */
function accepted(model: Model, sent: InputValues): PricedInput & { readonly duration?: unknown } {
  const standards = defaultInputOf(model);
  const [own, given] = [standards['options'], sent['options']];
  const options = { ...(isObject(own) && own), ...(isObject(given) && given) };
  return { ...standards, ...sent, options: options as PricedInput['options'] };
}
