import { z } from 'zod';
import {
  countUnfinishedTasks,
  maxCallbacksCounted,
  maxTasksRead,
  readCallbackBacklog,
  sumTasksCreatedInDay,
  sumTasksEndedInDay,
} from '../../library/operations/overview-counts.ts';
import { listViolations } from '../../credits/ledger/ledger-audit.ts';
import { readLastChecksAndFindings } from '../../credits/last-checks-and-findings.ts';
import { readProviderStatuses } from '../../tasks/jobs/list-providers-with-pools.ts';
import { countTasksWithFailingWorkflow } from '../../tasks/list/unfinished-and-stuck-tasks.ts';
import { failCodes, outcomeOfFailCode, type FailOutcome } from '../../catalogue/tasks/fail-codes-and-outcomes.ts';
import { unfinishedStates } from '../../catalogue/tasks/task.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { unixMsSchema } from '../core/request-fields.ts';
import { providerSchema } from '../providers/provider-view.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';
import type { WithCatalogueGetter } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { Database } from '../../platform/database/database.ts';

const count = z.int().nonnegative();
const callbackCount = z.int().min(0).max(maxCallbacksCounted);

const waitSchema = z.strictObject({
  model: z.string(),
  state: z.enum(unfinishedStates),
  tasks: count,
  oldestMs: count.meta({ description: 'The age of the oldest task.' }),
});

const daySchema = z.strictObject({
  created: count,
  charged: count,
  succeeded: count,
  cancelled: count,
  rejected: count.meta({ description: 'Tasks whose prompt or image was rejected.' }),
  failed: z
    .array(z.strictObject({ failCode: z.enum(failCodes), tasks: count }))
    .meta({ description: 'Other failed tasks, by code.' }),
  refunded: count,
});

const violationSchema = z.strictObject({
  rule: z.string(),
  accountId: z.string().nullable(),
  accountName: z.string().nullable(),
  entryId: z.int().nullable(),
  taskId: z.string().nullable(),
  detail: z.string(),
  foundTime: unixMsSchema,
});

export const adminOverview = defineEndpoint({
  operationId: 'adminOverview',
  route: 'GET /api/admin/v1/overview',
  summary: 'Get an overview of the installation',
  data: z
    .strictObject({
      unfinished: z.array(waitSchema).meta({ description: 'Unfinished tasks by model and state.' }),
      stuckTasks: count.meta({ description: 'Tasks whose workflow code fails; they are refunded after a while.' }),
      lastDay: daySchema.meta({
        description: `The last 24 hours; at most the newest ${maxTasksRead} tasks.`,
      }),
      callbacks: z.strictObject({
        pending: callbackCount,
        overdue: callbackCount.meta({ description: 'Pending callbacks that are overdue by more than a minute.' }),
        undelivered: callbackCount.meta({ description: 'Failed or rejected in the last 24 hours.' }),
      }),
      books: z.strictObject({
        auditedTime: unixMsSchema.nullable().meta({ description: 'When the ledger was last audited.' }),
        violations: count,
        found: z.array(violationSchema).meta({ description: 'The oldest 100 violations.' }),
      }),
      providers: z.array(providerSchema),
    })
    .meta({ id: 'InstallationOverview' }),
  handler: async (_call, { db, catalogue }: WithDb & WithCatalogueGetter) => {
    const [unfinished, stuck, lastDay, { pending, overdue, undelivered }, books, providers] = await Promise.all([
      countUnfinishedTasks(db),
      countTasksWithFailingWorkflow(db),
      readLastDay(db),
      readCallbackBacklog(db),
      readLedgerState(db),
      readProviderStatuses(db, catalogue()),
    ]);
    const callbacks = { pending, overdue, undelivered };
    return { unfinished, stuckTasks: stuck.tasks, lastDay, callbacks, books, providers };
  },
});

async function readLastDay(db: Database) {
  const [{ created, charged }, ended] = await Promise.all([sumTasksCreatedInDay(db), sumTasksEndedInDay(db)]);
  const failedTasks = failCodes.flatMap((failCode) => {
    const tasks = ended.find((one) => one.failCode === failCode)?.tasks ?? 0;
    return tasks === 0 ? [] : [{ failCode, outcome: outcomeOfFailCode(failCode), tasks }];
  });
  const countOf = (counted: FailOutcome) =>
    failedTasks.reduce((sum, { outcome, tasks }) => (outcome === counted ? sum + tasks : sum), 0);
  return {
    created,
    charged,
    succeeded: ended.find(({ failCode }) => failCode === undefined)?.tasks ?? 0,
    cancelled: countOf('cancelled'),
    rejected: countOf('rejected'),
    failed: failedTasks
      .filter(({ outcome }) => outcome === 'failed')
      .map(({ failCode, tasks }) => ({ failCode, tasks })),
    refunded: ended.reduce((sum, { refunded }) => sum + refunded, 0),
  };
}

async function readLedgerState(db: Database) {
  const [{ auditedAt, violations }, found] = await Promise.all([readLastChecksAndFindings(db), listViolations(db)]);
  return {
    auditedTime: auditedAt === 0 ? null : auditedAt,
    violations,
    found: found.map((one) => pickRowFieldsBySchema(violationSchema, { ...one, foundTime: one.foundAt })),
  };
}
