import type { TaskParam } from '../../domain/task.ts';
import { idempotencyHeader, idempotencyKeyOf } from '../idempotency-key.ts';
import { invalidRequest } from '../invalid-request.ts';
import type { Step, WithBody, WithCaller } from '../request-state.ts';
import { type RequestRules, translationOf } from '../translation.ts';

export type WithTaskRequest = { param: TaskParam; idempotencyKey: string | undefined };

/** Validates a create request, header and body; 422 names every fault of both. Comes after `authenticate` and `readJson`. */
export function validateTaskRequest(rules: RequestRules): Step<WithCaller & WithBody & WithTaskRequest> {
  return async (ctx, next) => {
    const header = ctx.req.headers[idempotencyHeader.toLowerCase()];
    const idempotency = idempotencyKeyOf(Array.isArray(header) ? header.join(', ') : header);
    const request = translationOf(ctx.state.dialect).taskRequest(ctx.state.body, rules);
    if ('error' in idempotency || !request.ok) {
      const headerErrors = 'error' in idempotency ? [idempotency.error] : [];
      throw invalidRequest([...headerErrors, ...(request.ok ? [] : request.errors)], request.hint);
    }
    ctx.state.param = request.param;
    ctx.state.idempotencyKey = idempotency.key;
    await next();
  };
}
