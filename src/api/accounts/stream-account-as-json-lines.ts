import type { TimedCursor } from '../../platform/database/sql-fragments-and-parameters.ts';
import { findAccount } from '../../accounts/accounts.ts';
import { listAccountUploads } from '../../tasks/end/close-account-rows.ts';
import { readBalanceAndEntries } from '../../credits/ledger/ledger-entries-and-book-credits.ts';
import { presentSpendCap } from '../credits/spend-cap-routes.ts';
import { listSpendCapsOfAccount } from '../../accounts/limits/spend-caps.ts';
import { presentTopUp } from '../payments/top-up-view.ts';
import { listTopUps } from '../../credits/payments/top-ups.ts';
import type { Database } from '../../platform/database/database.ts';
import { listApiKeysAfter } from '../../accounts/keys/keys.ts';
import { listMembers } from '../../accounts/people/person-list.ts';
import { presentMember } from '../people/person-view.ts';
import { listInvitations } from '../../accounts/sign-in/one-time-links.ts';
import { findEventEndpoint } from '../../tasks/callbacks/event-endpoint.ts';
import { listFavoriteOrTaggedVideos } from '../../library/gallery/favorites-and-tags.ts';
import { listShareLinksOfAccount } from '../../library/gallery/share-links.ts';
import { presentShareLink } from '../gallery/share-link-routes.ts';
import { presentEvent } from '../callbacks/event-view.ts';
import { withAttempts } from '../../tasks/callbacks/deliveries.ts';
import { listOwnCallbacks, listOwnEvents } from '../../tasks/callbacks/own-deliveries-and-redelivery.ts';
import { listAccountSecurityEvents } from '../../accounts/people/security-events.ts';
import { listTasks } from '../../tasks/list/task-list.ts';
import { maxUploadsOfAccount, uploadKey } from '../../media/references/upload-limits-and-addresses.ts';
import { presentLedgerEntry } from './ledger-entry-view.ts';
import { presentCallback } from '../callbacks/callback-view.ts';
import { type LinkSigner, presentListedTask } from '../tasks/task-view.ts';
import { presentSecurityEvent } from '../people/security-event-view.ts';
import { readPages } from '../core/csv-answer.ts';
import { presentKey } from './key-view.ts';

/** Rows per statement: a page is in memory twice, and a task has up to 90 KB. */
const limit = 64;

type Line = Readonly<Record<string, unknown>> & { readonly kind: string };

/**
 * Streams all data of an account as lines of JSON. The last line counts the others, so that a client does not mistake a part for the whole.
 * Yields nothing for an unknown account.
 */
export async function* streamAccountAsJsonLines(
  db: Database,
  resultStore: LinkSigner,
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

async function* pagesOf(db: Database, resultStore: LinkSigner, accountId: string): AsyncGenerator<readonly Line[]> {
  const account = await findAccount(db, accountId);
  if (account === undefined) return;
  const { name, balance, createdAt: createTime, closedAt: closeTime = null } = account;
  yield [{ kind: 'account', accountId, name, balance, createTime, closeTime, exportTime: Date.now() }];
  // Progress of live tasks would need a call to Temporal each.
  const deps = { resultStore, progressOf: () => Promise.resolve(0) };
  yield* paged(
    (last?: { taskId: string }) => listTasks(db, { accountId, after: last?.taskId, limit }),
    (task) => presentListedTask(deps, task).then((record) => ({ kind: 'task', ...record })),
  );
  yield* paged(
    (last?: { taskId: string }) => listFavoriteOrTaggedVideos(db, accountId, last?.taskId, limit),
    ({ taskId, isFavorite: favorite, tags }) => ({ kind: 'videoLabels', taskId, favorite, tags }),
  );
  yield* paged(
    (last?: { linkId: string }) => listShareLinksOfAccount(db, accountId, last?.linkId, limit),
    (link) => ({ kind: 'shareLink', ...presentShareLink(link) }),
  );
  yield* paged(
    async (last?: { entryId: number }) =>
      (await readBalanceAndEntries(db, { accountId, before: last?.entryId, limit })).entries,
    // An entry has a `kind` of its own.
    (entry) => ({ kind: 'ledgerEntry', entry: presentLedgerEntry(entry) }),
  );
  yield* paged(
    (last?: { topUpId: string }) => listTopUps(db, { accountId, before: last?.topUpId, limit }),
    (topUp) => ({ kind: 'topUp', ...presentTopUp(topUp, { isOwner: true }) }),
  );
  yield (await listSpendCapsOfAccount(db, accountId)).map((cap) => ({ kind: 'spendCap', ...presentSpendCap(cap) }));
  const nowMs = Date.now();
  yield* paged(
    async (last?: Listed) =>
      withAttempts(db, await listOwnCallbacks(db, { accountId, after: last && positionOf(last), limit, nowMs })),
    (delivery) => ({ kind: 'callback', ...presentCallback(delivery, delivery.attempts, nowMs) }),
  );
  const endpoint = await findEventEndpoint(db, accountId);
  if (endpoint !== undefined) yield [{ kind: 'eventEndpoint', ...endpoint }];
  yield* paged(
    async (last?: Listed) =>
      withAttempts(db, await listOwnEvents(db, { accountId, after: last && positionOf(last), limit, nowMs })),
    (event) => ({ kind: 'event', ...presentEvent(event, event.attempts, nowMs) }),
  );
  yield* paged(
    (last?: { keyId: string }) => listApiKeysAfter(db, accountId, last?.keyId, limit),
    (key) => ({ kind: 'key', ...presentKey(key) }),
  );
  yield* paged(
    (last?: { email: string }) => listMembers(db, { accountId, after: last?.email, limit }),
    (member) => ({ kind: 'member', ...presentMember(member) }),
  );
  yield* paged(
    (last?: { linkId: string }) => listInvitations(db, accountId, { before: last?.linkId, limit }),
    ({ expiresAt: expireTime, ...invitation }) => ({ kind: 'invitation', ...invitation, expireTime }),
  );
  const uploads = await listAccountUploads(db, accountId, maxUploadsOfAccount);
  yield uploads.map((upload) => ({ kind: 'upload', ...upload, url: resultStore.link(uploadKey(upload)) }));
  yield* paged(
    (last?: { eventId: number }) => listAccountSecurityEvents(db, accountId, { before: last?.eventId, limit }),
    (event) => ({ kind: 'securityEvent', event: presentSecurityEvent(event) }),
  );
}

type Listed = { readonly atUs: number; readonly deliveryId: string };

function positionOf({ atUs, deliveryId: id }: Listed): TimedCursor {
  return { atUs, id };
}

async function* paged<Row>(
  read: (last: Row | undefined) => Promise<readonly Row[]>,
  present: (row: Row) => Line | Promise<Line>,
): AsyncGenerator<readonly Line[]> {
  const pages = readPages(read, { pageSize: limit });
  for await (const rows of pages) yield await Promise.all(rows.map(async (row) => present(row)));
}
