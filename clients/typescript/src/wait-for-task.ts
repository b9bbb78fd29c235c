import { backoffMs } from './clock.ts';
import type { TaskRecord } from './contract.ts';
import { read, type ReadOptions } from './send.ts';
import type { CallOptions, Transport } from './transport.ts';
import { VideogenError } from './videogen-error.ts';
import { isTimeout, withDeadline } from './with-deadline.ts';

export type WaitOptions = Omit<CallOptions, 'timeoutMs'> & {
  /** Called with every record, the last one included; about once a second until the task ends. */
  readonly onRecord?: ((record: TaskRecord) => void) | undefined;
  /** The time limit of the whole wait, in milliseconds; by default 25 hours, after which every task has ended. */
  readonly timeoutMs?: number | undefined;
};

const defaultTimeoutMs = 25 * 60 * 60_000;

/** The seconds of `Prefer: wait`: few if the caller reads progress, else less than the timeouts of proxies. */
const longPollSeconds = { withProgress: 1, without: 25 };

const firstPauseMs = 250;
const maxPauseMs = 5_000;

/** The pause after a poll that the service was too busy to hold. */
const busyPauseSeconds = 10;

/** Waits until the task has ended, and returns its record: `success` or `fail`. Throws `unfinished` after the time limit. */
export async function waitForTask(transport: Transport, taskId: string, options: WaitOptions): Promise<TaskRecord> {
  const { timeoutMs: limitMs = defaultTimeoutMs, onRecord, ...call } = options;
  const { signal } = call;
  try {
    return await withDeadline({ limitMs, signal }, (inner) =>
      untilEnded(transport, taskId, { ...call, signal: inner }, onRecord),
    );
  } catch (error) {
    signal?.throwIfAborted();
    if (!isTimeout(error)) throw error;
    throw new VideogenError('unfinished', `task ${taskId} has not ended within ${limitMs / 1000} s`, { cause: error });
  }
}

/** The service responds when the task ends (long poll). If it responds earlier, the pauses between polls grow. */
async function untilEnded(
  transport: Transport,
  taskId: string,
  call: CallOptions,
  onRecord: WaitOptions['onRecord'],
): Promise<TaskRecord> {
  const { clock } = transport;
  const waitSeconds = onRecord === undefined ? longPollSeconds.without : longPollSeconds.withProgress;
  for (let earlyAnswers = 0; ;) {
    const sentAt = clock.now();
    const record = await pollOnce(transport, taskId, { ...call, waitSeconds });
    if (record !== undefined) onRecord?.(record);
    if (record?.state === 'success' || record?.state === 'fail') return record;
    earlyAnswers = clock.now() - sentAt < 500 * waitSeconds ? earlyAnswers + 1 : 0;
    if (earlyAnswers > 0) await clock.sleep(backoffMs(earlyAnswers, firstPauseMs, maxPauseMs, clock), call.signal);
  }
}

/** A busy service, or one that restarts behind its proxy, does not end the wait; an unreachable one does. */
async function pollOnce(transport: Transport, taskId: string, call: ReadOptions): Promise<TaskRecord | undefined> {
  try {
    return await read(transport, '/api/v1/jobs/recordInfo', { taskId }, call);
  } catch (error) {
    const isBusy = error instanceof VideogenError && error.isPassing && error.kind !== 'unreachable';
    if (!isBusy) throw error;
    await transport.clock.sleep(1000 * (error.retryAfterSeconds ?? busyPauseSeconds), call.signal);
    return undefined;
  }
}
