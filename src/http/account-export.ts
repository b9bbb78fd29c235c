import { findAccount } from '../stores/accounts.ts';
import { listUploadsOf } from '../stores/account-closure.ts';
import { readBooks } from '../stores/credits.ts';
import type { Database } from '../stores/database.ts';
import { listApiKeysAfter } from '../stores/keys.ts';
import { listMembers } from '../stores/members.ts';
import { listInvitations } from '../stores/one-time-links.ts';
import { listOwnDeliveries } from '../stores/own-deliveries.ts';
import { listAccountEvents } from '../stores/security-events.ts';
import { listTasks } from '../stores/task-list.ts';
import { maxUploads, uploadKey } from '../domain/upload.ts';
import { presentLedgerEntry } from './presenters/account.ts';
import { presentOwnCallback } from './presenters/callback.ts';
import { type LinkStore, presentListedTask } from './presenters/listed-task.ts';
import { presentEvent } from './presenters/security-event.ts';
import { presentKey } from './routes/keys.ts';

/** Rows of one statement; no connection to the database is held between two. */
const pageSize = 500;

type Line = Readonly<Record<string, unknown>> & { readonly kind: string };

/**
 * Everything that is kept of an account, as lines of JSON, as fast as they are taken: the account, its tasks with links to their media,
 * ledger, callbacks, keys without their secrets, members, invitations, images and security events. The last line counts those before
 * it, so that a part is not taken for all. Nothing comes out for an account that does not exist.
 */
export async function* exportAccount(
  db: Database,
  resultStore: LinkStore,
  accountId: string,
): AsyncGenerator<string, void, undefined> {
  let count = 0;
  for await (const page of pagesOf(db, resultStore, accountId)) {
    if (page.length === 0) continue;
    count += page.length;
    yield page.map((line) => `${JSON.stringify(line)}\n`).join('');
  }
  if (count > 0) yield `${JSON.stringify({ kind: 'end', lines: count })}\n`;
}

async function* pagesOf(db: Database, resultStore: LinkStore, accountId: string): AsyncGenerator<readonly Line[]> {
  const account = await findAccount(db, accountId);
  if (account === undefined) return;
  const { name, balance, createdAt: createTime, closedAt: closeTime = null } = account;
  yield [{ kind: 'account', accountId, name, balance, createTime, closeTime, exportTime: Date.now() }];
  // Temporal is not asked for the progress of live tasks.
  const deps = { resultStore, progressOf: () => Promise.resolve(0) };
  yield* paged(
    (last?: { taskId: string }) => listTasks(db, { accountId, after: last?.taskId, limit: pageSize }),
    (task) => presentListedTask(deps, task).then((record) => ({ kind: 'task', ...record })),
  );
  yield* paged(
    async (last?: { entryId: number }) =>
      (await readBooks(db, { accountId, before: last?.entryId, limit: pageSize })).entries,
    // What an entry is, is its kind, too.
    (entry) => ({ kind: 'ledgerEntry', entry: presentLedgerEntry(entry) }),
  );
  const nowMs = Date.now();
  yield* paged(
    (last?: { taskId: string }) => listOwnDeliveries(db, { accountId, after: last?.taskId, limit: pageSize, nowMs }),
    (delivery) => ({ kind: 'callback', ...presentOwnCallback(delivery, delivery.attempts, nowMs) }),
  );
  yield* paged(
    (last?: { keyId: string }) => listApiKeysAfter(db, accountId, last?.keyId, pageSize),
    (key) => ({ kind: 'key', ...presentKey(key) }),
  );
  yield* paged(
    (last?: { email: string }) => listMembers(db, accountId, { after: last?.email, limit: pageSize }),
    (member) => ({ kind: 'member', ...member }),
  );
  yield* paged(
    (last?: { linkId: string }) => listInvitations(db, accountId, { before: last?.linkId, limit: pageSize }),
    (invitation) => ({ kind: 'invitation', ...invitation }),
  );
  yield (await listUploadsOf(db, accountId, maxUploads)).map(({ uploadId }) => ({
    kind: 'image',
    uploadId,
    url: resultStore.link(uploadKey(uploadId)),
  }));
  yield* paged(
    (last?: { eventId: number }) => listAccountEvents(db, accountId, { before: last?.eventId, limit: pageSize }),
    (event) => ({ kind: 'securityEvent', event: presentEvent(event) }),
  );
}

/** Page after page, each after the last row of the one before. */
async function* paged<Row>(
  read: (last: Row | undefined) => Promise<readonly Row[]>,
  present: (row: Row) => Line | Promise<Line>,
): AsyncGenerator<readonly Line[]> {
  for (let last: Row | undefined; ;) {
    const rows = await read(last);
    yield await Promise.all(rows.map(async (row) => present(row)));
    last = rows.at(-1);
    if (rows.length < pageSize) return;
  }
}
