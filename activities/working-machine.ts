import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { ActivityDeps } from './deps.ts';

const pauseMs = 5_000;

/** Throws if no attempt may begin on this machine. The task waits for another attempt, and its deadline does not run. */
export function requireWorkingMachine({ refusesWork }: Pick<ActivityDeps, 'refusesWork'>): void {
  const message = refusesWork?.();
  if (message === undefined) return;
  const category = ApplicationFailureCategory.BENIGN;
  throw ApplicationFailure.create({ message, type: 'waiting', nextRetryDelay: pauseMs, category });
}
