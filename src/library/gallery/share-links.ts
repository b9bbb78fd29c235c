import { v7 as uuidv7 } from 'uuid';
import type { CalledBy } from '../../accounts/keys/scopes-dialects-and-caller.ts';
import { recordSecurityEvent, type Origin } from '../../accounts/people/security-events.ts';
import type { Database } from '../../platform/database/database.ts';
import { pickFieldValues } from '../../platform/database/sql-fragments-and-parameters.ts';
import { many, maybeOne, one } from '../../platform/database/declare-statements.ts';
import { hashToken, isToken, newToken } from '../../platform/secrets/secret-token.ts';
import type { TaskResult } from '../../catalogue/tasks/task.ts';
import { playableVideoSql } from './videos.ts';

/** The pages of links, followed by the token. */
export const sharePathPrefix = '/s/';

/** Links to one video that have not expired. */
export const maxShareLinksOfVideo = 20;
export const maxShareTitleLength = 120;
export const maxShareLinkDays = 366;

/** A link without its secret, which is not stored. Times are Unix milliseconds. */
export type ShareLink = {
  readonly linkId: string;
  readonly taskId: string;
  readonly title: string | undefined;
  readonly showsAccount: boolean;
  readonly createdAt: number;
  readonly expiresAt: number;
};

const columns = `id as "linkId", task_id as "taskId", title, shows_account as "showsAccount", created_at as "createdAt",
  expires_at as "expiresAt"`;

/** The caller whom the security event names. */
export type SharedBy = { readonly accountId: string; readonly by: CalledBy; readonly origin: Origin };

export type NewShareLink = Pick<ShareLink, 'taskId' | 'title' | 'showsAccount' | 'expiresAt'>;

export type ShareOutcome =
  | { readonly kind: 'shared'; readonly link: ShareLink; readonly token: string }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'too_many' };

/** The lock excludes a deletion of the video, and another link to it, which would not be counted. */
const lockVideo = maybeOne<{ readonly id: string }, [taskId: string, accountId: string]>({
  name: 'lock-video',
  text: `select id from tasks where id = $1 and account_id = $2 and ${playableVideoSql} for no key update`,
});

const insertLink = one<ShareLink, [linkId: string, hash: Buffer, accountId: string, link: NewShareLink]>({
  name: 'create-share-link',
  text: `
insert into share_links (id, hash, account_id, task_id, title, shows_account, expires_at)
values ($1, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000)) returning ${columns}`,
  values: (linkId, hash, accountId, link) => [
    linkId,
    hash,
    accountId,
    ...pickFieldValues(link, 'taskId', 'title', 'showsAccount', 'expiresAt'),
  ],
});

export function shareVideo(db: Database, shared: SharedBy, link: NewShareLink): Promise<ShareOutcome> {
  const { accountId } = shared;
  return db.transaction(async (run): Promise<ShareOutcome> => {
    const video = await lockVideo({ run }, link.taskId, accountId);
    if (video === undefined) return { kind: 'not_found' };
    if ((await listShareLinksOfVideo({ run }, accountId, link.taskId)).length >= maxShareLinksOfVideo)
      return { kind: 'too_many' };
    const token = newToken();
    const created = await insertLink({ run }, uuidv7(), hashToken(token), accountId, link);
    await recordChange({ run }, 'share_link_made', shared, created);
    return { kind: 'shared', link: created, token };
  });
}

export const listShareLinksOfVideo = many<ShareLink, [accountId: string, taskId: string]>({
  name: 'list-share-links',
  text: `
select ${columns} from share_links
where task_id = $2 and account_id = $1 and expires_at > now() order by id desc limit ${maxShareLinksOfVideo}`,
});

/** Lists the links of an account in the order of their creation, for its export. */
export const listShareLinksOfAccount = many<ShareLink, [accountId: string, after: string | undefined, limit: number]>({
  name: 'list-share-links-of-account',
  text: `
select ${columns} from share_links
where account_id = $1 and ($2::uuid is null or id > $2) and expires_at > now() order by id limit $3`,
});

const deleteLink = maybeOne<ShareLink, [linkId: string, accountId: string]>({
  name: 'revoke-share-link',
  text: `delete from share_links where id = $1 and account_id = $2 and expires_at > now() returning ${columns}`,
});

/** Revokes a link. Returns false if the account has no link with this id. */
export function revokeShareLink(db: Database, shared: SharedBy, linkId: string): Promise<boolean> {
  return db.transaction(async (run) => {
    const link = await deleteLink({ run }, linkId, shared.accountId);
    if (link === undefined) return false;
    await recordChange({ run }, 'share_link_revoked', shared, link);
    return true;
  });
}

function recordChange(
  db: Pick<Database, 'run'>,
  kind: 'share_link_made' | 'share_link_revoked',
  { accountId, by, origin }: SharedBy,
  { linkId, taskId, expiresAt }: ShareLink,
): Promise<void> {
  const person = by.kind === 'person' ? { userId: by.userId, email: by.email } : {};
  const details = { linkId, taskId, expireTime: expiresAt, ...(by.kind === 'key' && { keyId: by.keyId }) };
  return recordSecurityEvent(db, { kind, accountId, origin, details, ...person });
}

export type SharedVideo = {
  readonly title: string | undefined;
  readonly accountName: string | undefined;
  readonly expiresAt: number;
  readonly result: TaskResult;
};

// A suspended or closed account shows nothing.
const findByHash = maybeOne<SharedVideo, [hash: Buffer]>({
  name: 'find-shared-video',
  text: `
select title, case when shows_account then accounts.name end as "accountName", expires_at as "expiresAt", result
from share_links join tasks on tasks.id = task_id join accounts on accounts.id = share_links.account_id
where hash = $1 and expires_at > now() and ${playableVideoSql} and suspended_at is null`,
});

/** Undefined for a link that is malformed, unknown, expired or revoked, and for a video that was deleted. */
export async function findSharedVideo(db: Pick<Database, 'run'>, token: string): Promise<SharedVideo | undefined> {
  return isToken(token) ? findByHash(db, hashToken(token)) : undefined;
}
