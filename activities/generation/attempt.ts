import { Context } from '@temporalio/activity';
import type { VideoWants } from '../../src/domain/ports.ts';
import type { JobRequest } from '../../src/providers/contract.ts';
import type { GeneratingTask } from '../../src/stores/tasks.ts';
import { TaskEnded } from '../attempts.ts';
import type { ActivityDeps } from '../deps.ts';
import { providerFailures } from './failures.ts';
import type { Stop } from './job.ts';

/** One attempt at the generation of a task. */
export type Attempt = {
  readonly deps: ActivityDeps;
  readonly task: GeneratingTask;
  /** Undefined for a video that is stored as it was delivered. */
  readonly wants: VideoWants | undefined;
  /** Empty, of this attempt alone, and deleted after it. */
  readonly workFolder: string;
  /** Aborts when the attempt is to end, the deadline included. */
  readonly signal: AbortSignal;
  /** The same without the deadline, for a video that is paid for. */
  readonly patientSignal: AbortSignal;
  /** The reference images, fetched once in an attempt. */
  readonly images: JobRequest['images'];
  readonly report: (progress: number) => void;
  /** The task has a job, since so many milliseconds: from now on it is `generating`. May be called again. */
  readonly markGenerating: (sinceMs?: number) => Promise<void>;
};

type Signals = Pick<Attempt, 'signal' | 'patientSignal'>;

/** The end of an attempt whose signal has aborted. */
export function interrupted(attempt: Signals): Stop {
  if (hasDeadlinePassed(attempt)) return { kind: 'task_failed', failure: providerFailures.timeout };
  return isCancelled(attempt) ? { kind: 'cancelled' } : { kind: 'undecided', detail: 'another attempt takes over' };
}

export function hasDeadlinePassed({ signal, patientSignal }: Signals): boolean {
  return signal.aborted && !patientSignal.aborted;
}

/** False for a worker that shuts down, or that was taken for dead: the next attempt continues the job. */
export function isCancelled({ patientSignal }: Pick<Attempt, 'patientSignal'>): boolean {
  return Context.current().cancellationDetails?.cancelRequested === true || patientSignal.reason instanceof TaskEnded;
}
