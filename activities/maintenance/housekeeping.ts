import { Context } from '@temporalio/activity';
import { hourMs } from '../../src/platform/timing/milliseconds-per-unit.ts';
import type { HousekeepingStep } from '../../src/temporal/schedules/housekeeping-steps.ts';
import { deleteExpiredContent } from '../../src/tasks/end/content-deletion-rows.ts';
import { eraseUsersWithoutAccount, listErasuresByCommand } from '../../src/accounts/people/erasure.ts';
import { readCursor, saveCursor } from '../../src/platform/database/sweep-cursors.ts';
import {
  createAttemptRetentionMs,
  attemptAndEventRetentionMs,
  oneTimeLinkRetentionMs,
  maxLoggedRequests,
  maxLoggedRequestsOfAccount,
  loggedRequestRetentionMs,
  signInTryRetentionMs,
} from '../../src/library/operations/fixed-retention-periods.ts';
import {
  deleteExpiredEventsWithoutTask,
  deleteExpiredCallbackAttempts,
  deleteExpiredCreateAttempts,
  deleteExpiredLinks,
  deleteExpiredProofs,
  deleteExpiredRequests,
  deleteExpiredSecurityEvents,
  deleteExpiredSessions,
  deleteExpiredShareLinks,
  deleteExpiredSignInTries,
} from '../../src/library/operations/delete-expired-rows.ts';
import {
  deleteFromOverlongLog,
  findLogCutoff,
  listOverlongLogs,
} from '../../src/library/request-log/request-log-rows.ts';
import { addTasksToUsageSums } from '../../src/credits/reports/usage-sums-and-latencies.ts';
import { sweepSlots } from '../../src/tasks/jobs/slots.ts';
import { listExpiredMedia, markMediaDeleted } from '../../src/tasks/end/expired-media-rows.ts';
import { type ExpiredUpload, listExpiredUploads } from '../../src/media/references/upload-rows.ts';
import { deleteUpload, type SweepDeps, deleteOwedFilesAndHistories } from './delete-owed-files-and-histories.ts';
import { processRowsFromStoredCursor, pageSize } from './process-rows-from-cursor.ts';
import { deleteTaskFiles } from '../task-file-keys-and-deletion.ts';

/** Media of a failed task is deleted after this time, and once more later, for a worker that was cut off meanwhile (`listExpiredMedia`). */
export const failedTaskMediaRetentionMs = hourMs;
const maxSweptSlots = 1_000;
const usagePageSize = 2_000;

export type HousekeepDeps = SweepDeps & {
  readonly retention: {
    /** Counts from the success of a task; the record stays. */
    readonly mediaMs: number;
    readonly securityEventsMs: number;
    /** Counts from the loss of a user's last account. */
    readonly usersMs: number;
    /** Undefined stores prompts as long as their task. */
    readonly promptsMs: number | undefined;
  };
};

type Step = (deps: HousekeepDeps) => Promise<void>;

const steps: Record<HousekeepingStep, Step> = {
  sweepSlots: ({ db }) => sweepSlots(db, maxSweptSlots),
  deleteExpiredLinks: async ({ db }) => {
    await deletePages(() => deleteExpiredLinks(db, Date.now() - oneTimeLinkRetentionMs, pageSize));
    await deletePages(() => deleteExpiredShareLinks(db, Date.now(), pageSize));
  },
  deleteExpiredSessions: ({ db }) => deletePages(() => deleteExpiredSessions(db, Date.now(), pageSize)),
  deleteExpiredProofs: ({ db }) => deletePages(() => deleteExpiredProofs(db, Date.now(), pageSize)),
  deleteExpiredSignInTries: ({ db }) =>
    deletePages(() => deleteExpiredSignInTries(db, Date.now() - signInTryRetentionMs, pageSize)),
  deleteExpiredCreateAttempts: ({ db }) =>
    deletePages(() => deleteExpiredCreateAttempts(db, Date.now() - createAttemptRetentionMs, pageSize)),
  deleteExpiredSecurityEvents: ({ db, retention: { securityEventsMs } }) =>
    deletePages(() => deleteExpiredSecurityEvents(db, Date.now() - securityEventsMs, pageSize)),
  deleteExpiredAccountEvents: async ({ db, retention: { promptsMs = attemptAndEventRetentionMs } }) => {
    const retentionMs = Math.min(promptsMs, attemptAndEventRetentionMs);
    await deletePages(() => deleteExpiredEventsWithoutTask(db, Date.now() - retentionMs, pageSize));
    await deletePages(() => deleteExpiredCallbackAttempts(db, Date.now() - retentionMs, pageSize));
  },
  deleteExpiredUsers: async ({ db, log, retention: { usersMs } }) => {
    await deletePages(async () => {
      const userIds = await eraseUsersWithoutAccount(db, Date.now() - usersMs, pageSize);
      // The log outlives a restore of the database, after which a user has to be erased again.
      for (const userId of userIds) log.info({ userId }, 'user erased');
      return userIds.length;
    });
    await logErasuresByCommand({ db, log });
  },
  deleteExpiredRequests: trimRequestLog,
  countUsage: ({ db }) => repeatPages(async () => (await addTasksToUsageSums(db, usagePageSize)).tasks, usagePageSize),
  deleteExpiredContent: async ({ db, retention: { promptsMs } }) => {
    if (promptsMs !== undefined) await deletePages(() => deleteExpiredContent(db, Date.now() - promptsMs, pageSize));
  },
  deleteExpiredMedia,
  deleteExpiredUploads,
  sweepDeletions: deleteOwedFilesAndHistories,
};

export function createHousekeepingStepActivity(deps: HousekeepDeps) {
  return (step: HousekeepingStep): Promise<void> => steps[step](deps);
}

const loggedErasures = 'erasures-by-command';

/** The command line writes to a terminal, so a worker logs its erasures. */
async function logErasuresByCommand({ db, log }: Pick<HousekeepDeps, 'db' | 'log'>): Promise<void> {
  const logged = Number((await readCursor(db, loggedErasures))?.row ?? 0);
  const erasures = await listErasuresByCommand(db, logged, pageSize);
  for (const { userId } of erasures) log.info({ userId }, 'user erased');
  const last = erasures.at(-1);
  if (last !== undefined) await saveCursor(db, loggedErasures, String(last.actionId));
}

function deletePages(deletePage: () => Promise<number>): Promise<void> {
  return repeatPages(deletePage, pageSize);
}

async function repeatPages(doPage: () => Promise<number>, size: number): Promise<void> {
  while ((await doPage()) === size) {
    Context.current().heartbeat();
    Context.current().cancellationSignal.throwIfAborted();
  }
}

/** Deletes requests past their retention, and the oldest ones beyond the maximum number of rows. */
async function trimRequestLog({ db }: HousekeepDeps): Promise<void> {
  const beyond = await findLogCutoff(db, maxLoggedRequests);
  const before = Math.max(Date.now() - loggedRequestRetentionMs, beyond?.endedAt ?? 0);
  await deletePages(() => deleteExpiredRequests(db, before, pageSize));
  for (const log of await listOverlongLogs(db, maxLoggedRequestsOfAccount)) {
    await deletePages(async () => (await deleteFromOverlongLog(db, log, pageSize)).deleted);
  }
}

/** Deletes videos and posters past their retention, and files that failed tasks left. The record stays. */
async function deleteExpiredMedia(deps: HousekeepDeps): Promise<void> {
  const { db, media, retention } = deps;
  await processRowsFromStoredCursor<{ readonly taskId: string }>(deps, {
    name: 'delete-expired-media',
    page: (page) =>
      listExpiredMedia(db, { retentionMs: retention.mediaMs, failedTaskMediaMs: failedTaskMediaRetentionMs, ...page }),
    work: async ({ taskId }) => {
      await deleteTaskFiles(media, taskId);
      await markMediaDeleted(db, taskId);
      deps.events.emit({ kind: 'reconcile_finding', finding: 'media_expired' });
    },
  });
}

async function deleteExpiredUploads(deps: HousekeepDeps): Promise<void> {
  await processRowsFromStoredCursor<ExpiredUpload>(deps, {
    name: 'delete-expired-uploads',
    page: (page) => listExpiredUploads(deps.db, page),
    work: async ({ uploadId }) => {
      await deleteUpload(deps, uploadId);
      deps.events.emit({ kind: 'reconcile_finding', finding: 'upload_expired' });
    },
  });
}
