import type { OrderDifference } from '../../media/video/compare-with-order.ts';
import { taskPriceSql } from '../../credits/prices/task-price-sql-and-quote.ts';
import type { Model } from '../../catalogue/models/model-type-and-name-lookup.ts';
import { type AmountsWithPriceName, matchingAmountsInOrder } from '../../catalogue/prices/model-prices.ts';
import type { Database } from '../../platform/database/database.ts';
import { maybeOne } from '../../platform/database/declare-statements.ts';
import type { TaskInput } from '../../catalogue/input/task-input.ts';
import type { Task } from '../../catalogue/tasks/task.ts';
import { taskColumns } from '../task-rows.ts';

// A video that falls short of its order ends its task by the terms that the model had when the task was accepted.

/** The terms that a task stores; a task without any is refunded in full. */
export type ShortfallTerms =
  | { readonly policy: 'accept' }
  | {
      readonly policy: 'refund';
      /** The catalogue's prices of the order. */
      readonly prices: readonly AmountsWithPriceName[];
      /** Those of the same order without sound, if they are others. */
      readonly silentPrices?: readonly AmountsWithPriceName[];
    };

export function shortfallTerms({ shortfall, prices }: Model, input: TaskInput): ShortfallTerms | undefined {
  if (shortfall === undefined || shortfall === 'fail') return undefined;
  if (shortfall === 'accept') return { policy: 'accept' };
  const [ordered, silent] = [input, { ...input, generateAudio: false }].map((one) =>
    matchingAmountsInOrder(prices, one),
  );
  if (ordered === undefined || silent === undefined || JSON.stringify(ordered) === JSON.stringify(silent))
    return { policy: 'refund', prices: ordered ?? [] };
  return { policy: 'refund', prices: ordered, silentPrices: silent };
}

export type TaskWithShortfallTerms = Task & { readonly shortfall: ShortfallTerms | undefined };

export const findTaskWithShortfallTerms = maybeOne<TaskWithShortfallTerms, [taskId: string]>({
  name: 'find-order',
  text: `select ${taskColumns}, shortfall from tasks where id = $1`,
});

type DeliveredPrice = { readonly credits: number; readonly creditsPerSecond: number };

// Operators' prices are append-only, so the price at the acceptance can be computed at any later time.
const priceDelivered = maybeOne<
  DeliveredPrice,
  [taskId: string, seconds: number, listed: readonly AmountsWithPriceName[]]
>({
  name: 'price-delivered-video',
  text: `
select $2::integer * credits_per_second + credits_per_video as credits, credits_per_second as "creditsPerSecond"
from tasks cross join lateral ${taskPriceSql({
    model: 'tasks.model',
    accountId: 'tasks.account_id',
    listed: '$3::json',
    at: 'tasks.created_at',
  })} price where id = $1`,
  values: (taskId, seconds, listed) => [taskId, seconds, JSON.stringify(listed)],
});

export type ShortfallDecision =
  | { readonly kind: 'accepted' }
  /** A part of the charge goes back, and its reason. */
  | { readonly kind: 'refunded'; readonly credits: number; readonly reason: string }
  | { readonly kind: 'failed' };

type ShortVideo = {
  /** The respects in which the video falls short of its order; never empty. */
  readonly short: readonly OrderDifference[];
  /** The whole seconds that the video counts as. */
  readonly seconds: number;
};

/**
 * Decides about a video that falls short. A difference without a price, such as a wrong ratio, cannot be refunded in part, so it fails the
 * task unless its model accepts it.
 */
export async function decideShortfall(
  db: Database,
  { taskId, param, creditsCharged, shortfall: terms }: TaskWithShortfallTerms,
  { short, seconds }: ShortVideo,
): Promise<ShortfallDecision> {
  if (terms === undefined) return { kind: 'failed' };
  if (terms.policy === 'accept') return { kind: 'accepted' };
  const isShort = (aspect: OrderDifference['aspect']) => short.some((one) => one.aspect === aspect);
  const listed = isShort('sound') ? terms.silentPrices : terms.prices;
  if (isShort('ratio') || isShort('size') || listed === undefined || seconds < 1) return { kind: 'failed' };
  const price = await priceDelivered(db, taskId, Math.min(seconds, param.input.duration), listed);
  if (price === undefined || (isShort('seconds') && price.creditsPerSecond === 0)) return { kind: 'failed' };
  const credits = creditsCharged - price.credits;
  const reason = short.map(({ ordered, delivered }) => `${delivered} delivered, ${ordered} ordered`).join('; ');
  return credits > 0 ? { kind: 'refunded', credits, reason } : { kind: 'failed' };
}
