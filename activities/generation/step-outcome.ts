import type { Job, Next, Stop } from '../../src/tasks/jobs/attempt-job.ts';
import type { StagedVideo } from '../store-result.ts';

/** The result of a step. An exception is an error of our own, such as an unavailable database, and is retried. */
export type Outcome =
  | { readonly kind: 'job'; readonly job: Job }
  | Next
  | { readonly kind: 'video'; readonly staged: StagedVideo }
  | Stop;
