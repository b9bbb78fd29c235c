import {
  finishClosure,
  isClosing,
  listTasksOfClosedAccount,
  listAccountUploads,
} from '../src/tasks/end/close-account-rows.ts';
import { deleteTaskContentInDatabase, findOwedDeletion } from '../src/tasks/end/content-deletion-rows.ts';
import { isFinalState } from '../src/catalogue/tasks/task.ts';
import { maxUploadsOfAccount } from '../src/media/references/upload-limits-and-addresses.ts';
import type { PaymentDeps } from '../src/credits/payments/apply-payments-and-reversals.ts';
import { endCheckout, listOpenCheckouts } from '../src/credits/payments/expire-or-settle-checkout.ts';
import type { WorkflowEngine } from '../src/catalogue/tasks/workflow-engine.ts';
import { cancelGraceMs, failAndRefund } from '../src/tasks/end/end-task-statements.ts';
import { findTask } from '../src/tasks/task-rows.ts';
import {
  deleteUpload,
  type SweepDeps,
  deleteFilesAndHistoriesOfTask,
} from './maintenance/delete-owed-files-and-histories.ts';
import { pageSize, processRows, type RowProcessingDeps } from './maintenance/process-rows-from-cursor.ts';

export type EmptyAccountDeps = SweepDeps &
  Pick<PaymentDeps, 'events'> & {
    readonly engine: Pick<WorkflowEngine, 'cancelWorkflow'>;
    /** Undefined while credits are not for sale. */
    readonly payments: PaymentProviderAndServiceUrl | undefined;
  };

export type PaymentProviderAndServiceUrl = Pick<PaymentDeps, 'provider' | 'serviceUrl'>;

/** `after`: the last task of the page before. */
export type AccountPageToEmpty = { readonly accountId: string; readonly after?: string | undefined };

export type EmptiedPage = {
  /** Tasks, uploads and unpaid checkouts that were left to end or to delete. Some may still be left. */
  readonly found: number;
  /** The start of the next page; undefined after the last one. */
  readonly after: string | undefined;
};

/**
 * Ends the tasks of one page and deletes their contents, files and histories; the last page deletes the uploads, too, and ends unpaid
 * checkouts. Deletes nothing in an account that is not being closed, as after the restore of an older database. Throws if the whole page
 * failed.
 */
export function createEmptyAccountPageActivity(deps: EmptyAccountDeps) {
  const { db } = deps;
  return async ({ accountId, after }: AccountPageToEmpty): Promise<EmptiedPage> => {
    if (!(await isClosing(db, accountId)).isClosing) return { found: 0, after: undefined };
    const tasks = await listTasksOfClosedAccount(db, accountId, { after, limit: pageSize });
    const found = tasks.filter(({ isEmpty }) => !isEmpty);
    const failed = await processRows(deps, found, {
      name: 'empty-account',
      work: ({ taskId }) => emptyTask(deps, taskId),
    });
    if (failed === pageSize) throw new Error(`all ${pageSize} tasks of a page failed`);
    if (tasks.length === pageSize) return { found: found.length, after: tasks.at(-1)?.taskId };
    const rest = (await deleteUploads(deps, accountId)) + (await endCheckouts(deps, accountId));
    return { found: found.length + rest, after: undefined };
  };
}

const closed = { failCode: 'cancelled', failMsg: 'The task was cancelled, because its account was closed.' } as const;

async function emptyTask(deps: EmptyAccountDeps, taskId: string): Promise<void> {
  const { db, engine, events } = deps;
  let task = await findTask(db, taskId);
  if (task !== undefined && !isFinalState(task.state)) {
    const ended = await failAndRefund(db, taskId, closed, { terminatesAfterMs: cancelGraceMs });
    if (ended.changed) events.emit({ kind: 'task_ended', task: ended.task });
    await engine.cancelWorkflow(taskId);
    task = await findTask(db, taskId);
  }
  if (task === undefined) return;
  await deleteTaskContentInDatabase(db, task, []);
  const owed = await findOwedDeletion(db, taskId);
  if (owed !== undefined) await deleteFilesAndHistoriesOfTask(deps, owed);
}

async function deleteUploads(deps: EmptyAccountDeps, accountId: string): Promise<number> {
  const uploads = await listAccountUploads(deps.db, accountId, maxUploadsOfAccount);
  const work = ({ uploadId }: { readonly uploadId: string }) => deleteUpload(deps, uploadId);
  await processRows(deps, uploads, { name: 'empty-account', work });
  return uploads.length;
}

/** Customers should not pay for a closed account. A payment that arrives nevertheless is booked, and the operator can return it. */
async function endCheckouts(deps: EmptyAccountDeps, accountId: string): Promise<number> {
  const { db, log, events, payments } = deps;
  if (payments === undefined) return 0;
  const checkouts = await listOpenCheckouts(db, accountId);
  const work = ({ checkoutId }: { readonly checkoutId: string }) =>
    endCheckout({ db, log, events, ...payments }, checkoutId);
  await processRows(deps, checkouts, { name: 'end-checkouts', work });
  return checkouts.length;
}

/** The activity returns false while the account is not empty. */
export function createFinishClosingActivity({ db, log }: Pick<RowProcessingDeps, 'db' | 'log'>) {
  return async (accountId: string): Promise<boolean> => {
    const { outcome } = await finishClosure(db, accountId);
    if (outcome === 'finished') log.info({ accountId }, 'closed account emptied');
    return outcome !== 'not_empty';
  };
}
