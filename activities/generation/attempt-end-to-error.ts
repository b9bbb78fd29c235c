import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { TaskError } from '../../src/catalogue/tasks/task-error.ts';
import { providerFailures } from '../../src/tasks/jobs/task-failures-of-jobs.ts';
import type { AttemptEndWithoutVideo } from '../../src/tasks/jobs/job-of-attempt-types.ts';

const maxPauseMs = 120_000;

/** The error that the activity throws to Temporal, where a pause between attempts costs nothing. Waiting is not logged as a failure. */
export function errorOfAttemptEnd(stop: AttemptEndWithoutVideo): Error {
  switch (stop.kind) {
    case 'task_failed': {
      const { failCode, failMsg } = stop.failure;
      return new TaskError(failCode, failMsg, stop.detail === undefined ? {} : { cause: new Error(stop.detail) });
    }
    case 'waits': {
      const nextRetryDelay = Math.min(maxPauseMs, Math.max(1_000, Math.ceil(stop.pauseMs)));
      const category = ApplicationFailureCategory.BENIGN;
      return ApplicationFailure.create({ message: stop.why, type: 'waiting', nextRetryDelay, category });
    }
    case 'undecided': {
      const { failCode, failMsg } = providerFailures.unavailable;
      return new TaskError(failCode, failMsg, { retryable: true, cause: new Error(stop.detail) });
    }
    case 'interrupted':
      // A type that is no failCode: the provider has nothing to do with it.
      return ApplicationFailure.create({
        message: 'this worker stops, or was replaced; another attempt continues',
        type: 'interrupted',
        category: ApplicationFailureCategory.BENIGN,
      });
    case 'cancelled':
      break;
  }
  return new CancelledFailure('the task was cancelled');
}
