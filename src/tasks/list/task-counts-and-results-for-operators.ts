import type { FailCode, TaskState } from '../../catalogue/tasks/task.ts';
import { many } from '../../platform/database/declare-statements.ts';

export type EndedTaskCount = {
  readonly state: TaskState;
  readonly failCode: FailCode | undefined;
  readonly tasks: number;
  readonly creditsRefunded: number;
};

/** Counts tasks that have ended since a time (Unix milliseconds). */
export const countEndedTasks = many<EndedTaskCount, [sinceMs: number]>({
  name: 'count-endings',
  text: `
select state, fail_code as "failCode", count(*)::int as tasks, sum(credits_refunded)::bigint as "creditsRefunded"
from tasks where completed_at >= to_timestamp($1::float8 / 1000) and completed_at <= now()
group by state, fail_code order by state, fail_code`,
});

export type ModelInvalidResults = { readonly model: string; readonly tasks: number; readonly failMsg: string };

/** Lists the models whose videos were not usable or fell short in the last week, with the latest reason; at most 1,000 tasks count. */
export const listInvalidResults = many<ModelInvalidResults>({
  name: 'list-shortfalls',
  text: `
select model, count(*)::int as tasks, (array_agg(fail_msg order by created_at desc))[1] as "failMsg"
from (
  select model, fail_msg, created_at from tasks
  where state = 'fail' and fail_code = 'result_invalid' and created_at > now() - interval '7 days'
  order by created_at desc, id desc limit 1000
) recent group by model order by tasks desc, model`,
});

/** The video of a successful task, which has not been deleted yet. */
export type StoredResult = {
  readonly taskId: string;
  readonly accountId: string;
  readonly creditsCharged: number;
  readonly videoKey: string;
};

/** Lists results, oldest first. */
export const listStoredResults = many<StoredResult, [after: string | undefined, limit: number]>({
  name: 'list-stored-results',
  text: `
select id as "taskId", account_id as "accountId", credits_charged as "creditsCharged", result->>'videoKey' as "videoKey"
from tasks where state = 'success' and media_deleted_at is null
  and ($1::uuid is null or (completed_at, id) > (select completed_at, id from tasks where id = $1))
order by completed_at, id limit $2`,
});
