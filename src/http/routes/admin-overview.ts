import { z } from 'zod';
import {
  countUnfinishedTasks,
  listViolations,
  maxCallbacksCounted,
  maxTasksRead,
  readCallbackBacklog,
  sumCreatedOfDay,
  sumEndedOfDay,
} from '../../stores/installation.ts';
import { readMaintenance } from '../../stores/maintenance.ts';
import { readProviderStatuses } from '../../stores/provider-status.ts';
import { countStuckTasks } from '../../stores/task-list.ts';
import { type FailCode, failCodes, isNeutral } from '../../domain/fail-code.ts';
import { unfinishedStates } from '../../domain/task.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { unixMs } from '../fields.ts';
import { providerSchema } from '../presenters/provider.ts';
import { view } from '../presenters/view.ts';
import type { HttpDeps } from '../http-deps.ts';

const count = z.int().nonnegative();
const callbackCount = z.int().min(0).max(maxCallbacksCounted);

const waitSchema = z.strictObject({
  model: z.string(),
  state: z.enum(unfinishedStates),
  tasks: count,
  oldestMs: count.meta({ description: 'Since the oldest of them was created.' }),
});

const daySchema = z.strictObject({
  created: count,
  charged: count,
  succeeded: count,
  cancelled: count,
  rejected: count.meta({ description: 'Refused by a model for their content.' }),
  failed: z
    .array(z.strictObject({ failCode: z.enum(failCodes), tasks: count }))
    .meta({ description: 'The others that did not succeed.' }),
  refunded: count,
});

const violationSchema = z.strictObject({
  rule: z.string(),
  accountId: z.string().nullable(),
  entryId: z.int().nullable(),
  taskId: z.string().nullable(),
  detail: z.string(),
  foundTime: unixMs,
});

/** What an operator looks at first. */
export const adminOverview = defineEndpoint({
  operationId: 'adminOverview',
  route: 'GET /api/admin/v1/overview',
  summary: 'How the installation is',
  data: z
    .strictObject({
      unfinished: z.array(waitSchema).meta({ description: 'Tasks that have not ended, by model and state.' }),
      stuckTasks: count.meta({ description: 'Tasks whose workflow code fails; they are refunded after a while.' }),
      lastDay: daySchema.meta({
        description: `Of the last 24 hours; of more than ${maxTasksRead} tasks, the newest.`,
      }),
      callbacks: z.strictObject({
        pending: callbackCount,
        overdue: callbackCount.meta({ description: 'Pending ones whose attempt is due since more than a minute.' }),
        undelivered: callbackCount.meta({ description: 'Given up or refused for good in the last 24 hours.' }),
      }),
      books: z.strictObject({
        auditedTime: unixMs
          .nullable()
          .meta({ description: 'When the books were last checked; null before the first time.' }),
        violations: count,
        found: z.array(violationSchema).meta({ description: 'The oldest 100 violations.' }),
      }),
      providers: z.array(providerSchema),
    })
    .meta({ id: 'InstallationOverview' }),
  handler: async (_call, { db, catalogue }) => {
    const [unfinished, stuckTasks, lastDay, { pending, overdue, undelivered }, books, providers] = await Promise.all([
      countUnfinishedTasks(db),
      countStuckTasks(db),
      readLastDay(db),
      readCallbackBacklog(db),
      readBooks(db),
      readProviderStatuses(db, catalogue),
    ]);
    const callbacks = { pending, overdue, undelivered };
    return { unfinished, stuckTasks, lastDay, callbacks, books, providers };
  },
});

async function readLastDay(db: HttpDeps['db']) {
  const [{ created, charged }, ended] = await Promise.all([sumCreatedOfDay(db), sumEndedOfDay(db)]);
  const endedAs = (failCode: FailCode | undefined) => ended.find((one) => one.failCode === failCode)?.tasks ?? 0;
  const [cancelled, rejected] = [endedAs('cancelled'), endedAs('content_rejected')];
  const failed = failCodes
    .filter((failCode) => !isNeutral(failCode))
    .map((failCode) => ({ failCode, tasks: endedAs(failCode) }))
    .filter(({ tasks }) => tasks > 0);
  return {
    created,
    charged,
    succeeded: endedAs(undefined),
    cancelled,
    rejected,
    failed,
    refunded: ended.reduce((sum, { refunded }) => sum + refunded, 0),
  };
}

async function readBooks(db: HttpDeps['db']) {
  const [{ auditedAt, violations }, found] = await Promise.all([readMaintenance(db), listViolations(db)]);
  return {
    auditedTime: auditedAt === 0 ? null : auditedAt,
    violations,
    found: found.map((one) => view(violationSchema, { ...one, foundTime: one.foundAt })),
  };
}
