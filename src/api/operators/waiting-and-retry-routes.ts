import { z } from 'zod';
import {
  countWaitingByReasonAndPool,
  listWaitingAccounts,
  listWaitingTasks,
  waitReasons,
} from '../../library/operations/waiting-tasks.ts';
import type { WithCatalogueGetter } from '../../catalogue/file/catalogue-schema-and-types.ts';
import { providerNameField, requireProviderStatus } from '../providers/provider-and-margin-routes.ts';
import {
  maxTasksWokenByOperator,
  endWaitsForProviderAs,
  endWaitOfTaskAs,
} from '../../tasks/jobs/end-cooldowns-and-list-tasks-to-wake.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { requireExisting } from '../core/http-error.ts';
import { idField, reasonField, unixMsSchema } from '../core/request-fields.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';

const cause = {
  reason: z.enum(waitReasons).meta({
    description:
      '`start`: not started yet. `worker`: waits for a free worker. `provider_limit`: all slots of the provider are taken. ' +
      '`provider_cooldown`: the provider failed, and is tried again after a pause. `provider_disabled`: an operator has drained or ' +
      'disabled it. `account_queue`: behind other tasks of its account. `lost_response`: the response of its create was lost, and ' +
      'the job is looked up; its slot stays taken. `retry`: an attempt failed, and another one follows.',
  }),
  provider: z.string().nullable(),
  pool: z.string().nullable(),
  coolingReason: z.string().nullable(),
  nextTime: unixMsSchema.nullable().meta({ description: 'When the next attempt is due; null if no timer decides it.' }),
};

const groupSchema = z.strictObject({
  ...cause,
  tasks: z.int(),
  oldestMs: z.int().meta({ description: 'Since the oldest of the tasks was accepted.' }),
});

const accountSchema = z.strictObject({
  accountId: z.string(),
  accountName: z.string(),
  tasks: z.int(),
  oldestMs: z.int(),
});

const taskSchema = z.strictObject({
  taskId: z.string(),
  accountId: z.string(),
  accountName: z.string(),
  model: z.string(),
  ...cause,
  ageMs: z.int(),
});

const waiting = defineEndpoint({
  operationId: 'adminListWaiting',
  route: 'GET /api/admin/v1/waiting',
  summary: 'List what is waiting, and why',
  data: z
    .strictObject({
      groups: z.array(groupSchema).meta({ description: 'Waiting tasks by reason and pool.' }),
      accounts: z.array(accountSchema).meta({ description: 'The 10 accounts with the most waiting tasks.' }),
      tasks: z.array(taskSchema).meta({ description: 'The 50 oldest waiting tasks.' }),
    })
    .meta({ id: 'Waiting' }),
  handler: async (_call, { db }) => {
    const [groups, accounts, tasks] = await Promise.all([
      countWaitingByReasonAndPool(db),
      listWaitingAccounts(db),
      listWaitingTasks(db),
    ]);
    return {
      groups: groups.map(({ nextAt: nextTime, ...group }) =>
        pickRowFieldsBySchema(groupSchema, { ...group, nextTime }),
      ),
      accounts,
      tasks: tasks.map(({ nextAt: nextTime, ...task }) => pickRowFieldsBySchema(taskSchema, { ...task, nextTime })),
    };
  },
});

const safe =
  'Ends a wait early, and nothing else: limits stay, and a task whose job runs upstream never gets a second one because of it.';

/** `retryTask` ends the pause before the next attempt at a task: in the background; never throws. */
type RetryDeps = { readonly retryTask: (task: { readonly taskId: string }) => void };

const retryTask = defineEndpoint({
  operationId: 'adminRetryTask',
  route: 'POST /api/admin/v1/tasks/retry',
  summary: 'Retry a waiting task now',
  description: `${safe} Ends the cooldown of the providers that the task waits for. A task that has ended stays as it is.`,
  body: z.strictObject({ taskId: idField('a task'), reason: reasonField }),
  data: z.strictObject({ isRetried: z.boolean().meta({ description: 'False if the task has ended.' }) }),
  failures: ['task_not_found'],
  handler: async ({ actor, input }, { db, retryTask: retry }: WithDb & RetryDeps) => {
    const { isRetried } = requireExisting(await endWaitOfTaskAs(db, actor, input), 'task_not_found');
    if (isRetried) retry(input);
    return { isRetried };
  },
});

const retryProvider = defineEndpoint({
  operationId: 'adminRetryProvider',
  route: 'POST /api/admin/v1/providers/retry',
  summary: 'Retry the tasks that wait for a provider now',
  description:
    `${safe} Ends the cooldown of the provider, after which one task tries whether it works again, and retries the first ${maxTasksWokenByOperator} ` +
    'tasks of its queues; the others follow as slots become free.',
  body: z.strictObject({ provider: providerNameField, reason: reasonField }),
  data: z.strictObject({ tasks: z.int().meta({ description: 'The number of tasks that are retried.' }) }),
  handler: async ({ actor, input }, { db, catalogue, retryTask: retry }: WithDb & WithCatalogueGetter & RetryDeps) => {
    const { provider } = input;
    await requireProviderStatus(db, catalogue(), provider);
    const taskIds = await endWaitsForProviderAs(db, actor, input);
    for (const taskId of taskIds) retry({ taskId });
    return { tasks: taskIds.length };
  },
});

export const operatorWaitAndRetryEndpoints = [waiting, retryTask, retryProvider];
