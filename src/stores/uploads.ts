import { maxUploadedBytes, maxUploads, uploadGraceMs } from '../domain/upload.ts';
import { lockOpenAccount } from './accounts.ts';
import type { Database } from './database.ts';
import { many, maybeOne, none, one } from './statement.ts';

type NewUpload = {
  readonly uploadId: string;
  readonly accountId: string;
  readonly bytes: number;
  readonly retentionMs: number;
};

const insertUpload = maybeOne<{ readonly expiresAt: number }, [upload: NewUpload]>({
  name: 'add-upload',
  text: `
insert into uploads (id, account_id, bytes, expires_at)
select $1, $2, $3::integer, now() + $4::float8 * interval '1 millisecond'
from (select count(*) as images, coalesce(sum(bytes), 0) as bytes from uploads where account_id = $2) kept
where kept.images < ${maxUploads} and kept.bytes + $3::integer <= ${maxUploadedBytes}
returning expires_at as "expiresAt"`,
  values: ({ uploadId, accountId, bytes, retentionMs }) => [uploadId, accountId, bytes, retentionMs],
});

/**
 * Keeps a place for an image, and answers until when a task may name it; undefined when the account has too many. Throws
 * `AccountClosed`: a closing deletes the images that it finds.
 */
export function addUpload(db: Pick<Database, 'transaction'>, upload: NewUpload) {
  return db.transaction(async (run) => {
    await lockOpenAccount({ run }, upload.accountId);
    return insertUpload({ run }, upload);
  });
}

/**
 * Nobody was told of the image, and its file may be in the store: it expires, and is deleted in ten minutes, when nothing can be on
 * its way there any more.
 */
export const abandonUpload = none<[uploadId: string]>({
  name: 'abandon-upload',
  text: `
update uploads set expires_at = now() + interval '10 minutes' - ${uploadGraceMs} * interval '1 millisecond' where id = $1`,
});

/** Whether the image is kept still. */
export const hasUpload = one<{ exists: boolean }, [uploadId: string]>({
  name: 'has-upload',
  text: 'select exists (select from uploads where id = $1)',
});

/** Which of these images are the account's, and may be named by a new task. */
export const listUsableUploads = many<{ readonly uploadId: string }, [accountId: string, uploadIds: readonly string[]]>(
  {
    name: 'list-usable-uploads',
    text: `
select id as "uploadId" from uploads where id = any($2::uuid[]) and account_id = $1 and expires_at > now()`,
  },
);

export type ExpiredUpload = { readonly uploadId: string; readonly expiresAtUs: number };

/** Images that no task can still need, the oldest first, a bounded page of them after the given one. */
export const listExpiredUploads = many<
  ExpiredUpload,
  [page: { readonly after?: ExpiredUpload | undefined; readonly limit: number }]
>({
  name: 'list-expired-uploads',
  text: `
select id as "uploadId", (extract(epoch from expires_at) * 1000000)::bigint as "expiresAtUs" from uploads
where expires_at < now() - ${uploadGraceMs} * interval '1 millisecond' and (expires_at, id) > (
  coalesce(timestamptz 'epoch' + $1::float8 * interval '1 microsecond', '-infinity'),
  coalesce($2::uuid, '00000000-0000-0000-0000-000000000000'))
order by expires_at, id limit $3`,
  values: ({ after, limit }) => [after?.expiresAtUs, after?.uploadId, limit],
});

/** The file is gone. */
export const removeUpload = none<[uploadId: string]>({
  name: 'remove-upload',
  text: `delete from uploads where id = $1`,
});
