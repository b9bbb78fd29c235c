import { outcomeOfFailCode, type FailOutcome, failOutcomes } from '../../catalogue/tasks/fail-codes-and-outcomes.ts';
import { type CountFilter, filterParameterValues, isInRangeSql, matchesFilterSql } from './task-filter.ts';
import { unfinishedTaskSql } from '../../catalogue/tasks/task-state-sql.ts';
import { type FailCode, type TaskState, unfinishedStates } from '../../catalogue/tasks/task.ts';
import type { Database } from '../../platform/database/database.ts';
import { many } from '../../platform/database/declare-statements.ts';

/** Tasks are counted by state, and failed ones by what their failure means to the client. */
const taskGroups = [...unfinishedStates, 'success', ...failOutcomes] as const;
export type TaskGroup = Exclude<TaskState, 'fail'> | FailOutcome;

/** `isExact` is false if there may be more, because older tasks were not read. */
export type TaskCount = { readonly tasks: number; readonly isExact: boolean };
export type TaskCounts = Readonly<Record<TaskGroup, TaskCount>>;

/** The limit for each of the three counts: unfinished tasks, failed tasks, and all tasks. */
export const maxCountedTasks = 10_000;

type Part = 'unfinished' | 'failed' | 'newest';
type CountedRow = {
  readonly part: Part;
  readonly state: TaskState;
  readonly failCode: FailCode | undefined;
  readonly matching: number;
  readonly read: number;
};

// Unfinished and failed tasks have indexes of their own, so they are counted however many newer tasks have succeeded.
const countGroups = many<CountedRow, [filter: CountFilter]>({
  name: 'count-tasks',
  plannedAnew: true,
  text: `
select part, state, fail_code as "failCode", (count(*) filter (where ${matchesFilterSql}))::int as matching, count(*)::int as read
from (${part('unfinished', unfinishedTaskSql)} union all ${part('failed', "state = 'fail'")} union all ${part('newest', 'true')}) tasks
group by part, state, fail_code`,
  values: filterParameterValues,
});

function part(name: Part, condition: string): string {
  // All columns, because each filter reads others.
  return `(select '${name}' as part, tasks.* from tasks
    where ${isInRangeSql} and ${condition} order by created_at desc, id desc limit ${maxCountedTasks + 1})`;
}

export async function countTasksByGroup(db: Pick<Database, 'run'>, filter: CountFilter): Promise<TaskCounts> {
  const rows = await countGroups(db, filter);
  const counted = taskGroups.map((group): [TaskGroup, TaskCount] => {
    const of = rows.filter((row) => row.part === partOf(group));
    const matching = of.filter((row) => groupOf(row) === group);
    return [
      group,
      { tasks: sum(matching.map((row) => row.matching)), isExact: sum(of.map(({ read }) => read)) <= maxCountedTasks },
    ];
  });
  // `taskGroups` lists every group.
  return Object.fromEntries(counted) as TaskCounts;
}

function partOf(group: TaskGroup): Part {
  if (group === 'success') return 'newest';
  return unfinishedStates.some((state) => state === group) ? 'unfinished' : 'failed';
}

function groupOf({ state, failCode }: CountedRow): TaskGroup {
  return state === 'fail' ? outcomeOfFailCode(failCode ?? 'internal') : state;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
