import type { HintedCall } from '../domain/hook-link.ts';
import { many, none } from './statement.ts';

// What upstreams announce, on its way from the process that hears it to the one that follows the job. A hint waits in the job's row,
// so one that comes too early is not lost; one that is lost costs time only, for the job is polled in any case.

/** A hint that waits already costs no write, and nothing waits for a job that has ended. */
export const recordHint = none<[call: HintedCall]>({
  name: 'record-provider-hint',
  text: `
update provider_jobs set is_hinted = true
where task_id = $1 and ordinal = $2 and not is_hinted and outcome is null and upstream_ended_at is null`,
  values: ({ taskId, ordinal }) => [taskId, ordinal],
});

/** Takes what waits for the jobs of these tasks. */
export const takeHints = many<HintedCall, [taskIds: readonly string[]]>({
  name: 'take-provider-hints',
  text: `
update provider_jobs set is_hinted = false
where is_hinted and outcome is null and task_id = any($1::uuid[]) returning task_id as "taskId", ordinal`,
});
