import { Context } from '@temporalio/activity';
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
/** Per kind and run, so that a large backlog leaves time for the other kinds; the next run continues. */
const maxMs = 5_000;

/** Deletes personal records past their retention; one function per kind, so that a kind that fails leaves the others alone. */
export function expiredRecordDeletions(
  { db, log, recordRetention: { eventsMs, usersMs, promptsMs } }: ActivityDeps,
  nowMs = Date.now(),
): readonly (() => Promise<void>)[] {
  return [
    () => allPages(() => deleteExpiredLinks(db, nowMs - linkRetentionMs, pageSize)),
    () => allPages(() => deleteExpiredSessions(db, nowMs, pageSize)),
    () => allPages(() => deleteExpiredProofs(db, nowMs, pageSize)),
    () => allPages(() => deleteExpiredTries(db, nowMs - tryRetentionMs, pageSize)),
    () => allPages(() => deleteExpiredEvents(db, nowMs - eventsMs, pageSize)),
    () =>
      allPages(async () => {
        const userIds = await deleteExpiredUsers(db, nowMs - usersMs, pageSize);
        // The log outlives a restore of the database, after which a person has to be erased again.
        for (const userId of userIds) log.info({ userId }, 'user erased');
        return userIds.length;
      }),
    async () => {
      if (promptsMs !== undefined) await allPages(() => deleteExpiredContent(db, nowMs - promptsMs, pageSize));
    },
  ];
}

async function allPages(deletePage: () => Promise<number>): Promise<void> {
  const endAt = performance.now() + maxMs;
  while ((await deletePage()) === pageSize && performance.now() < endAt) Context.current().heartbeat();
}
