import { Context } from '@temporalio/activity';
import { finishDelivery, findDelivery, recordDeliveryAttempt } from '../src/stores/deliveries.ts';
import type { CallbackAnswer } from '../src/outbound/post-callback.ts';
import type { ActivityDeps } from './deps.ts';

export type CallbackAttempt =
  | { readonly kind: 'delivered' | 'gone' }
  | { readonly kind: 'failed'; readonly retryAfterMs: number | undefined };

/**
 * One signed attempt at a task's callback, recorded with its status and time. The body is what recordInfo would answer
 * now. 2xx is success, 410 ends the delivery, everything else is a failure; `isLast` ends it as failed.
 */
export function createSendCallback(deps: ActivityDeps) {
  return async ({ taskId, isLast }: { taskId: string; isLast: boolean }): Promise<CallbackAttempt> => {
    const delivery = await findDelivery(deps.db, taskId);
    if (delivery === undefined) return { kind: 'gone' };
    const body = JSON.stringify({ code: 200, msg: 'success', data: await deps.recordOf(taskId) });
    const startedAt = Date.now();
    const signal = Context.current().cancellationSignal;
    const answer = await deps.postCallback({ ...delivery, body, signal });
    await recordDeliveryAttempt(deps.db, taskId, { startedAt, durationMs: Date.now() - startedAt, ...answer });
    const attempt = judge(answer);
    if (attempt.kind !== 'failed') await finishDelivery(deps.db, taskId, attempt.kind);
    else if (isLast) await finishDelivery(deps.db, taskId, 'failed');
    return attempt;
  };
}

function judge({ status, retryAfterMs }: CallbackAnswer): CallbackAttempt {
  if (status !== undefined && status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  return { kind: 'failed', retryAfterMs };
}
