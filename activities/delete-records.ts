import { Context } from '@temporalio/activity';
import type { HousekeepingStep } from '../src/domain/maintenance.ts';
import { deleteExpiredContent } from '../src/stores/content-deletion.ts';
import { deleteExpiredUsers } from '../src/stores/erasure.ts';
import {
  deleteExpiredEvents,
  deleteExpiredLinks,
  deleteExpiredProofs,
  deleteExpiredSessions,
  deleteExpiredTries,
} from '../src/stores/retention.ts';
import type { ActivityDeps } from './deps.ts';

const hourMs = 3_600_000;
/** Long enough to find out why a link did not work. */
const linkRetentionMs = 7 * 24 * hourMs;
/** The longest time over which attempts to sign in are counted is 15 minutes. */
const tryRetentionMs = hourMs;
const pageSize = 200;

/** The steps of housekeeping that delete personal records past their retention. */
export const recordDeletions = {
  deleteExpiredLinks: ({ db }) => allPages(() => deleteExpiredLinks(db, Date.now() - linkRetentionMs, pageSize)),
  deleteExpiredSessions: ({ db }) => allPages(() => deleteExpiredSessions(db, Date.now(), pageSize)),
  deleteExpiredProofs: ({ db }) => allPages(() => deleteExpiredProofs(db, Date.now(), pageSize)),
  deleteExpiredTries: ({ db }) => allPages(() => deleteExpiredTries(db, Date.now() - tryRetentionMs, pageSize)),
  deleteExpiredEvents: ({ db, recordRetention: { eventsMs } }) =>
    allPages(() => deleteExpiredEvents(db, Date.now() - eventsMs, pageSize)),
  deleteExpiredUsers: ({ db, log, recordRetention: { usersMs } }) =>
    allPages(async () => {
      const userIds = await deleteExpiredUsers(db, Date.now() - usersMs, pageSize);
      // The log outlives a restore of the database, after which a person has to be erased again.
      for (const userId of userIds) log.info({ userId }, 'user erased');
      return userIds.length;
    }),
  deleteExpiredContent: async ({ db, recordRetention: { promptsMs } }) => {
    if (promptsMs !== undefined) await allPages(() => deleteExpiredContent(db, Date.now() - promptsMs, pageSize));
  },
} satisfies Partial<Record<HousekeepingStep, (deps: ActivityDeps) => Promise<void>>>;

async function allPages(deletePage: () => Promise<number>): Promise<void> {
  while ((await deletePage()) === pageSize) {
    Context.current().heartbeat();
    Context.current().cancellationSignal.throwIfAborted();
  }
}
