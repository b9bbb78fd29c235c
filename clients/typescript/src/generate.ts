import type { TaskRecord, TaskRequest } from './contract.ts';
import { videoUrlOf } from './download.ts';
import { idempotencyKeyOf } from './idempotency-key.ts';
import { send } from './send.ts';
import type { Transport } from './transport.ts';
import { VideogenError, withIdempotencyKey } from './videogen-error.ts';
import { waitForTask, type WaitOptions } from './wait-for-task.ts';

export type GenerateOptions = Omit<WaitOptions, 'onRecord'> & {
  /** A new one by default. A call with the key of an earlier one continues to wait for the same task. */
  readonly idempotencyKey?: string | undefined;
  /** Called with every record, about once a second, from the creation of the task to its end. */
  readonly onProgress?: ((record: TaskRecord) => void) | undefined;
};

export type GeneratedVideo = {
  /** A link to the video, valid for a day. */
  readonly url: string;
  readonly record: TaskRecord;
};

/**
 * Creates a task and waits for its video. Throws `no_video` with the task's
 * record if the task fails. Every error has the idempotency key, because the
 * task may still run: a call with that key continues to wait for it.
 */
export async function generate(
  transport: Transport,
  request: TaskRequest,
  { onProgress, idempotencyKey: givenKey, timeoutMs, ...call }: GenerateOptions,
): Promise<GeneratedVideo> {
  const idempotencyKey = idempotencyKeyOf(givenKey);
  try {
    const { taskId } = await send(transport, '/api/v1/jobs/createTask', request, { ...call, idempotencyKey });
    const record = await waitForTask(transport, taskId, { ...call, timeoutMs, onRecord: onProgress });
    return { url: videoUrlOf(record), record };
  } catch (error) {
    throw error instanceof VideogenError ? withIdempotencyKey(error, idempotencyKey) : error;
  }
}
