import { z } from 'zod';
import { countTasksByGroup, maxCountedTasks, type TaskGroup } from '../../tasks/list/count-tasks.ts';
import { outcomeOfFailCode, type FailOutcome, failOutcomes } from '../../catalogue/tasks/fail-codes-and-outcomes.ts';
import type { TaskFilter } from '../../tasks/list/task-filter.ts';
import { readsAllTasks, filtersWithoutFullIndex } from '../../tasks/list/filters-without-index.ts';
import { listTasks } from '../../tasks/list/task-list.ts';
import type { ReadTaskRecorder } from '../../tasks/list/record-tasks-seen.ts';
import { parseTaskSearch } from '../../tasks/list/parse-task-search.ts';
import {
  listedTaskSchema,
  operatorListedTaskSchema,
  presentListedTask,
  presentOperatorListedTask,
  type TaskRecordDeps,
} from './task-view.ts';
import { type FailCode, failCodes, taskStates } from '../../catalogue/tasks/task.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithClock, WithDb } from '../core/endpoint-spec.ts';
import { oneOf } from '../core/request-fields.ts';
import {
  createdBetweenParameters,
  cutPage,
  idPageParameters,
  idParameter,
  nextCursorSchema,
  strictQuery,
  taskSearchParameter,
  textParameter,
} from '../core/query-parameters.ts';
import { dayMs } from '../../platform/timing/milliseconds-per-unit.ts';

/** `searchesPrompts`: lists of tasks can be searched by words of prompts. */
export type PromptSearchDeps = { readonly searchesPrompts: boolean };
export type OperatorFilterDeps = PromptSearchDeps & WithClock;

// Lists, counts and exports take the same filters, so that all three are about the same tasks.

const stateFilter = {
  state: oneOf(taskStates).optional(),
  failCode: oneOf(failCodes).meta({ description: 'Failed tasks with this code.' }).optional(),
  outcome: oneOf(failOutcomes)
    .meta({
      description:
        'Failed tasks that the client cancelled (`cancelled`), whose prompt or image was rejected (`rejected`), or that ' +
        'failed for any other reason (`failed`).',
    })
    .optional(),
};

const sharedFilter = {
  model: textParameter('must be the name of a model').max(100, { error: 'must be at most 100 characters' }).optional(),
  createdBy: idParameter('a key or a person')
    .meta({ description: 'The key or person that created the task.' })
    .optional(),
  search: taskSearchParameter.optional(),
  ...createdBetweenParameters,
};

const operatorFilter = {
  accountId: idParameter('an account').optional(),
  provider: textParameter('must be the name of a provider')
    .max(100)
    .meta({ description: 'Tasks with a job at this provider.' })
    .optional(),
  ...sharedFilter,
};

export const ownTaskFilterParameters = { ...stateFilter, ...sharedFilter };
export const operatorTaskFilterParameters = { ...stateFilter, ...operatorFilter };

type OwnFilter = z.output<z.ZodObject<typeof ownTaskFilterParameters>>;
type OperatorFilter = z.output<z.ZodObject<typeof operatorTaskFilterParameters>>;
type Complete<Fields> = { readonly [Name in keyof Fields]-?: Fields[Name] | undefined };

/** A parameter has the name of its filter, or is mapped to filters here. Any other one, and a filter without one, does not compile. */
function filterOf(query: Partial<OperatorFilter>, deps: PromptSearchDeps): TaskFilter {
  // A parameter that the request leaves out is undefined.
  const { search, failCode, outcome, from: fromMs, to: toMs, ...named } = query as Complete<OperatorFilter>;
  const filters: Pick<Complete<TaskFilter>, keyof typeof named> = named;
  const complete: Complete<TaskFilter> = {
    ...filters,
    search: search === undefined ? undefined : parseTaskSearch(search, deps),
    failCodes: failCodesOf(failCode, outcome),
    fromMs,
    toMs,
  };
  return complete;
}

function failCodesOf(failCode?: FailCode, outcome?: FailOutcome): readonly FailCode[] | undefined {
  if (failCode === undefined && outcome === undefined) return undefined;
  return failCodes.filter(
    (code) => (failCode ?? code) === code && (outcome === undefined || outcomeOfFailCode(code) === outcome),
  );
}

export function ownTaskFilterOf(accountId: string, query: Partial<OwnFilter>, deps: PromptSearchDeps): TaskFilter {
  return { ...filterOf(query, deps), accountId };
}

/** Bounds searches without an index. */
const maxScanMs = 7 * dayMs;

/** Each of these filters has a parameter of its name. */
const unindexed: readonly (keyof OperatorFilter)[] = filtersWithoutFullIndex;
// In British English, a list has no comma before the last word, as in our descriptions.
const orList = new Intl.ListFormat('en-GB', { type: 'disjunction' });
const unindexedNames = orList.format(unindexed.map((name) => `\`${name}\``));

export const aboutOperatorFilter =
  `Without \`accountId\`, filters by ${unindexedNames} cover only the ${maxScanMs / dayMs} days before ` +
  '`to`, or before now. Words of prompts require an `accountId`.';

export function boundedOperatorFilterOf(query: Partial<OperatorFilter>, deps: OperatorFilterDeps): TaskFilter {
  const filter = filterOf(query, deps);
  const { fromMs = 0, toMs } = filter;
  return { ...filter, fromMs: readsAllTasks(filter) ? Math.max(fromMs, (toMs ?? deps.now()) - maxScanMs) : fromMs };
}

type ListDeps = WithDb & PromptSearchDeps & TaskRecordDeps;

const listed = 'Lists tasks newest first. Tasks created while you page do not shift later pages.';

export const listOwnTasks = defineEndpoint({
  operationId: 'listTasks',
  route: 'GET /api/v1/jobs/listTasks',
  scope: 'tasks:read',
  summary: "List the account's tasks",
  description: listed,
  query: strictQuery({ ...ownTaskFilterParameters, ...idPageParameters }),
  data: z.strictObject({ tasks: z.array(listedTaskSchema), nextCursor: nextCursorSchema }),
  handler: async (
    { caller: { accountId, by }, query: { cursor: after, limit, ...query } },
    deps: ListDeps & { readonly seenTasks: ReadTaskRecorder },
  ) => {
    const filter = { ...ownTaskFilterOf(accountId, query, deps), after, limit: limit + 1 };
    const { page, nextCursor } = cutPage(await listTasks(deps.db, filter), limit, ({ taskId }) => taskId);
    await deps.seenTasks.record(by, page);
    return { tasks: await Promise.all(page.map((task) => presentListedTask(deps, task))), nextCursor };
  },
});

const adminList = defineEndpoint({
  operationId: 'adminListTasks',
  route: 'GET /api/admin/v1/tasks',
  summary: 'List tasks of all accounts',
  description: `${listed} ${aboutOperatorFilter}`,
  query: strictQuery({ ...operatorTaskFilterParameters, ...idPageParameters }),
  data: z.strictObject({ tasks: z.array(operatorListedTaskSchema), nextCursor: nextCursorSchema }),
  handler: async ({ query: { cursor: after, limit, ...query } }, deps: ListDeps & WithClock) => {
    const filter = { ...boundedOperatorFilterOf(query, deps), after, limit: limit + 1 };
    const { page, nextCursor } = cutPage(await listTasks(deps.db, filter), limit, ({ taskId }) => taskId);
    return { tasks: await Promise.all(page.map((task) => presentOperatorListedTask(deps, task))), nextCursor };
  },
});

const taskCountSchema = z
  .strictObject({
    tasks: z.int().nonnegative(),
    isExact: z.boolean().meta({ description: 'False: there are at least this many.' }),
  })
  .meta({ id: 'TaskCount' });

const ofEachGroup = {
  waiting: taskCountSchema,
  queuing: taskCountSchema,
  generating: taskCountSchema,
  success: taskCountSchema,
  cancelled: taskCountSchema,
  rejected: taskCountSchema,
  failed: taskCountSchema,
} satisfies Record<TaskGroup, typeof taskCountSchema>;

const taskCountsSchema = z.strictObject({
  counts: z.strictObject(ofEachGroup).meta({ description: 'By state; failed tasks by `outcome`.' }),
});

const counted =
  `Counts tasks by state. Reads at most the newest ${maxCountedTasks} unfinished tasks, failed tasks and tasks of any state; a count ` +
  'that this limit may have cut is not exact.';

const count = defineEndpoint({
  operationId: 'countTasks',
  route: 'GET /api/v1/jobs/countTasks',
  scope: 'tasks:read',
  summary: "Count the account's tasks",
  description: counted,
  query: strictQuery(sharedFilter),
  data: taskCountsSchema,
  handler: async ({ caller: { accountId }, query }, deps: WithDb & PromptSearchDeps) => ({
    counts: await countTasksByGroup(deps.db, ownTaskFilterOf(accountId, query, deps)),
  }),
});

const adminCount = defineEndpoint({
  operationId: 'adminCountTasks',
  route: 'GET /api/admin/v1/tasks/counts',
  summary: 'Count tasks of all accounts',
  description: `${counted} ${aboutOperatorFilter}`,
  query: strictQuery(operatorFilter),
  data: taskCountsSchema,
  handler: async ({ query }, deps: WithDb & OperatorFilterDeps) => ({
    counts: await countTasksByGroup(deps.db, boundedOperatorFilterOf(query, deps)),
  }),
});

export const taskListAndCountEndpoints = [listOwnTasks, count];
export const operatorTaskListAndCountEndpoints = [adminList, adminCount];
