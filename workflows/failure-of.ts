import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  TimeoutFailure,
} from '@temporalio/workflow';
import { failCodes, type FailCode, type TaskFailure } from '../src/domain/task.ts';

/** What the client will read about a failure: an activity's own words when it chose them, else a bland sentence. */
export function failureOf(error: unknown): TaskFailure {
  // A worker that dies with a cancelled task answers nothing, and the engine reports a timeout.
  if (isCancellation(error) || CancellationScope.current().consideredCancelled)
    return { failCode: 'cancelled', failMsg: 'The task was cancelled.' };
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) return { failCode: 'timeout', failMsg: 'The task was not finished in time.' };
  if (cause instanceof ApplicationFailure && isFailCode(cause.type)) {
    return { failCode: cause.type, failMsg: cause.message };
  }
  return { failCode: 'internal', failMsg: 'The task failed because of a fault of the service.' };
}

function isFailCode(type: string | null | undefined): type is FailCode {
  return failCodes.some((code) => code === type);
}
