import { conditionsOf, type PriceConditions } from '../../../models/price-rows.ts';
import type { ModelPrice } from '../../api/contract.ts';
import { fieldWord, valueWord } from '../../features/models/models-text.ts';

/** "1080p, with sound, without reference images"; what a price without conditions is for depends on whether others come before it. */
export function conditionWords(when: PriceConditions, isOnly: boolean): string {
  const words = conditionsOf(when).map(({ field, option, value }) => {
    if (option !== undefined) return `${fieldWord(option).toLowerCase()}: ${valueWord(option, value).toLowerCase()}`;
    if (field === 'resolution') return String(value);
    const isWith = value === true || value === 'present';
    return `${isWith ? 'with' : 'without'} ${fieldWord(field).toLowerCase()}`;
  });
  if (words.length > 0) return words.join(', ');
  return isOnly ? 'every video' : 'every other video';
}

type AmountsFrom = ModelPrice['rates'][number];

/** The amounts in force, if the price has begun, and those that are announced. */
export function amountsAt(
  { rates }: ModelPrice,
  nowMs: number,
): { current: AmountsFrom | undefined; announced: readonly AmountsFrom[] } {
  return {
    current: rates.findLast(({ fromTime }) => fromTime <= nowMs),
    announced: rates.filter(({ fromTime }) => fromTime > nowMs),
  };
}
