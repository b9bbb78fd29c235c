import { one } from '../../platform/database/declare-statements.ts';

const maxAhead = 1_000;

/** Counts earlier tasks of the same account that are not being generated yet, up to 1,000. */
export const countOwnTasksAhead = one<{ readonly tasks: number }, [taskId: string]>({
  name: 'count-own-tasks-ahead',
  text: `
select count(*)::int as tasks from (
  select from tasks, (select account_id as owner, created_at as since from tasks where id = $1) waiting
  where account_id = owner and state in ('waiting', 'queuing')
    and (created_at, id) < (since, $1)
  limit ${maxAhead}
) ahead`,
});
