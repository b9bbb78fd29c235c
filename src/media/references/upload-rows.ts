import {
  maxUploadedBytesOfAccount,
  maxUploadsOfAccount,
  type UploadIdAndName,
  uploadGraceMs,
  type StoredUploadName,
} from './upload-limits-and-addresses.ts';
import type { FrameSize } from '../../catalogue/media/frame-size.ts';
import { lockAccount, lockOpenAccount } from '../../accounts/accounts.ts';
import type { Database } from '../../platform/database/database.ts';
import { many, maybeOne, noRows } from '../../platform/database/declare-statements.ts';
import {
  pickFieldValues,
  microsecondsSql,
  pageStartRowSql,
} from '../../platform/database/sql-fragments-and-parameters.ts';

type NewUpload = UploadIdAndName & {
  readonly accountId: string;
  readonly bytes: number;
  readonly retentionMs: number;
} & { readonly [Side in keyof FrameSize]?: number | undefined };

const insertUpload = maybeOne<{ readonly expiresAt: number }, [upload: NewUpload]>({
  name: 'add-upload',
  text: `
insert into uploads (id, account_id, bytes, expires_at, file_name, width_px, height_px)
select $1, $2, $3::integer, now() + $4::float8 * interval '1 millisecond', $5, $6::integer, $7::integer
from (select count(*) as files, coalesce(sum(bytes), 0) as bytes from uploads where account_id = $2) stored
where stored.files < ${maxUploadsOfAccount} and stored.bytes + $3::integer <= ${maxUploadedBytesOfAccount}
returning expires_at as "expiresAt"`,
  values: (upload) => [
    ...pickFieldValues(upload, 'uploadId', 'accountId', 'bytes', 'retentionMs', 'fileName', 'widthPx', 'heightPx'),
  ],
});

/**
 * Reserves room for a file, and returns its expiry, or undefined if the account has too many. The account's lock serializes uploads, so
 * that concurrent ones do not exceed the limits. Throws `AccountClosedError`.
 */
export function reserveUpload(db: Pick<Database, 'transaction'>, upload: NewUpload) {
  return db.transaction(async (run) => {
    await lockOpenAccount({ run }, upload.accountId);
    return insertUpload({ run }, upload);
  });
}

/** Expires a file whose upload failed. It is deleted in ten minutes, when no write can still be in flight. */
export const expireFailedUpload = noRows<[uploadId: string]>({
  name: 'abandon-upload',
  text: `
update uploads set expires_at = now() + interval '10 minutes' - ${uploadGraceMs} * interval '1 millisecond' where id = $1`,
});

/** Records that the file is stored; returns undefined if it was deleted in between. */
export const confirmUpload = maybeOne<{ readonly uploadId: string }, [uploadId: string, sha256: Buffer | undefined]>({
  name: 'confirm-upload',
  text: 'update uploads set sha256 = $2 where id = $1 returning id as "uploadId"',
});

export type StoredUpload = UploadIdAndName & { readonly expiresAt: number };

/** Finds a stored file of the account with the same content, and extends its retention to that of a new one. */
export const reuseUpload = maybeOne<StoredUpload, [accountId: string, sha256: Buffer, retentionMs: number]>({
  name: 'reuse-upload',
  text: `
update uploads set expires_at = greatest(expires_at, now() + $3::float8 * interval '1 millisecond')
where id = (select id from uploads where account_id = $1 and sha256 = $2 and expires_at > now() order by id limit 1)
  and expires_at > now()
returning id as "uploadId", file_name as "fileName", expires_at as "expiresAt"`,
});

type NewContent = UploadIdAndName & {
  readonly accountId: string;
  readonly sha256: Buffer;
  readonly retentionMs: number;
};

/**
 * Records the content of a stored file, so that it is found again. Returns another file instead if the account has stored the same content
 * meanwhile: the lock lets one of several concurrent uploads be the one that is found, because a repeated request must get the same URL.
 */
export function confirmOrReuseUpload(
  db: Pick<Database, 'transaction'>,
  { accountId, uploadId, sha256, retentionMs }: NewContent,
): Promise<StoredUpload | undefined> {
  return db.transaction(async (run) => {
    await lockAccount({ run }, accountId);
    const other = await reuseUpload({ run }, accountId, sha256, retentionMs);
    if (other === undefined) await confirmUpload({ run }, uploadId, sha256);
    return other;
  });
}

/** The size of an image; other files, and images of an earlier release, have none. */
type UsableUpload = UploadIdAndName & Partial<FrameSize>;

export const findUsableUploadsByIds = many<UsableUpload, [accountId: string, uploadIds: readonly string[]]>({
  name: 'list-usable-uploads',
  text: `
select id as "uploadId", file_name as "fileName", width_px as "widthPx", height_px as "heightPx" from uploads
where id = any($2::uuid[]) and account_id = $1 and expires_at > now()`,
});

export const findUploadFileName = maybeOne<{ readonly fileName: StoredUploadName }, [uploadId: string]>({
  name: 'find-upload',
  text: 'select file_name as "fileName" from uploads where id = $1',
});

export type ExpiredUpload = { readonly uploadId: string; readonly expiresAtUs: number };

/** Lists files that no task can still need, the oldest first. */
export const listExpiredUploads = many<
  ExpiredUpload,
  [page: { readonly after?: ExpiredUpload | undefined; readonly limit: number }]
>({
  name: 'list-expired-uploads',
  text: `
select id as "uploadId", ${microsecondsSql('expires_at')} as "expiresAtUs" from uploads
where expires_at < now() - ${uploadGraceMs} * interval '1 millisecond' and (expires_at, id) > ${pageStartRowSql('$1', '$2')}
order by expires_at, id limit $3`,
  values: ({ after, limit }) => [after?.expiresAtUs, after?.uploadId, limit],
});

export const removeUpload = noRows<[uploadId: string]>({
  name: 'remove-upload',
  text: `delete from uploads where id = $1`,
});
