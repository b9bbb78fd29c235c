import { z } from 'zod';
import { adapterOf } from '../ingress/dialect.ts';
import { nameUnused, unusedHeader } from '../ingress/unused-fields.ts';
import { kieCreatedSchema, kieRecordSchema } from '../ingress/kie/kie-record.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import type { Call } from '../http/endpoint.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { idempotencyKeyHeader, replayedHeader } from '../http/idempotency-key.ts';
import { presentTask, taskRecordSchema } from './task-view.ts';
import { createFailures, createTaskFor } from './create-task.ts';
import { anyJson } from './read-task-request.ts';
import { longPoll, preferenceApplied, preferHeader } from './long-poll.ts';
import { findTask } from './tasks.ts';

type CreateCall = Pick<Call<'tasks:write', undefined, typeof anyJson>, 'caller' | 'dialect' | 'input' | 'ctx'>;

const created = z.strictObject({ taskId: z.string(), creditsCharged: z.int().positive() }).meta({ id: 'CreatedTask' });

export const createTask = defineEndpoint({
  operationId: 'createTask',
  route: 'POST /api/v1/jobs/createTask',
  scope: 'tasks:write',
  createsTask: true,
  refusesSuspended: true,
  summary: 'Create a task',
  description:
    'Creates a task and charges it. The response means that the task was accepted, not that it has ended. Failed tasks are refunded in ' +
    'full. Send an `Idempotency-Key` to repeat a request safely. After a 503 `acceptance_unknown` the task may exist and be charged: ' +
    'repeat the request with the same key. Unknown fields are rejected. With `Prefer: wait=N` and the scope `tasks:read`, the response ' +
    'is held and contains the record.',
  headers: preferHeader.extend(idempotencyKeyHeader.shape),
  body: anyJson,
  data: z.union([created, taskRecordSchema, kieCreatedSchema, kieRecordSchema]),
  answerHeaders: { ...preferenceApplied, ...replayedHeader, ...unusedHeader },
  failures: createFailures,
  handler: async (call, deps) => {
    const { caller, dialect, ctx, input } = call;
    const { createdTask, taskRecord, taskRequest, unusedFields } = adapterOf(dialect);
    const { taskId, creditsCharged } = await createTaskFor(
      { caller, ctx, input, dialect, translate: taskRequest },
      deps,
    );
    nameUnused(ctx, unusedFields(input, deps.catalogue().models));
    const record = await recordAfterWait(call, deps, taskId);
    return record === undefined ? createdTask({ taskId, creditsCharged }) : taskRecord(record, deps.catalogue().models);
  },
});

/** Never fails, because the task is already accepted. */
async function recordAfterWait({ caller, ctx }: CreateCall, deps: HttpDeps, taskId: string) {
  if (!caller.scopes.includes('tasks:read')) return undefined;
  const isHeld = await longPoll(ctx, deps.taskWaiters, { taskId, accountId: caller.accountId });
  if (!isHeld) return undefined;
  const task = await findTask(deps.db, taskId).catch(() => undefined);
  return task === undefined ? undefined : presentTask(deps, task).catch(() => undefined);
}
