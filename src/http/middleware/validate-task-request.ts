import type { ParsedTaskRequest } from '../../domain/task-request.ts';
import type { TaskParam } from '../../domain/task.ts';
import { idempotencyHeader, idempotencyKeyOf } from '../idempotency-key.ts';
import { invalidRequest } from '../invalid-request.ts';
import type { Step, WithBody, WithCaller } from '../request-state.ts';
import { translationOf } from '../translation.ts';

export type WithTaskRequest = { param: TaskParam; idempotencyKey: string | undefined };

/** Validates a create request, header and body; 422 names every fault of both. Comes after `authenticate` and `readJson`. */
export function validateTaskRequest(
  parse: (body: unknown) => ParsedTaskRequest,
): Step<WithCaller & WithBody & WithTaskRequest> {
  return async (ctx, next) => {
    const header = ctx.req.headers[idempotencyHeader.toLowerCase()];
    const idempotency = idempotencyKeyOf(Array.isArray(header) ? header.join(', ') : header);
    const request = translationOf(ctx.state.caller.dialect).taskRequest(ctx.state.body, parse);
    if ('error' in idempotency || !request.ok) {
      const headerErrors = 'error' in idempotency ? [idempotency.error] : [];
      throw invalidRequest([...headerErrors, ...(request.ok ? [] : request.errors)]);
    }
    ctx.state.param = request.param;
    ctx.state.idempotencyKey = idempotency.key;
    await next();
  };
}
