import { v7 as uuid } from 'uuid';
import { noMedia } from '../tasks/ports.ts';
import type { TaskInput } from '../tasks/task.ts';
import type { JobRequest } from '../providers/contract.ts';

/** Limits a trial job. */
export const trialDeadlineMs = 1_800_000;

/** Builds a request for a job without images that belongs to no task. */
export function trialRequest(input: TaskInput): JobRequest {
  const jobKey = uuid();
  return {
    taskId: jobKey,
    ordinal: 1,
    accountHash: '0'.repeat(64),
    jobKey,
    model: 'try',
    input,
    media: async () => noMedia,
    mediaLinks: noMedia,
    deadlineMs: trialDeadlineMs,
  };
}
