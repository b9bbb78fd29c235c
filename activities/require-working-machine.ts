import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';

export type WorkFolderAndReadiness = {
  /** A folder on a local disk for files that live as long as one attempt. */
  readonly workFolder: string;
  /** Returns why no attempt may begin on this worker now, such as a full disk. */
  readonly refusesWork?: (() => string | undefined) | undefined;
};

const pauseMs = 5_000;

/** Throws if no attempt may begin on this machine. The task waits for another attempt, and its deadline does not run. */
export function requireWorkingMachine({ refusesWork }: WorkFolderAndReadiness): void {
  const message = refusesWork?.();
  if (message === undefined) return;
  const category = ApplicationFailureCategory.BENIGN;
  throw ApplicationFailure.create({ message, type: 'waiting', nextRetryDelay: pauseMs, category });
}
