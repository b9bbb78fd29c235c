import { many, noRows } from '../../platform/database/declare-statements.ts';

type ExpiredMedia = { readonly taskId: string };
type Page = { readonly after: ExpiredMedia | undefined; readonly limit: number };

/**
 * Lists tasks whose media must be deleted: successful ones past their retention, and failed ones after `failedTaskMediaMs`, because a killed
 * attempt may have left a file. Failed ones are listed again after 26 hours, because a cut-off worker continues for up to 24 hours.
 */
export const listExpiredMedia = many<
  ExpiredMedia,
  [page: Page & { readonly retentionMs: number; readonly failedTaskMediaMs: number }]
>({
  name: 'list-expired-media',
  text: `
select id as "taskId" from (
  ${expiredMedia(`state = 'success' and media_deleted_at is null and completed_at < now() - $1 * interval '1 millisecond'`)}
  union all
  ${expiredMedia(`state = 'fail' and media_deleted_at is null and completed_at < now() - $2 * interval '1 millisecond'`)}
  union all
  ${expiredMedia(`state = 'fail' and media_deleted_at - completed_at < interval '26 hours' and completed_at < now() - interval '26 hours'`)}
) expired order by completed_at, id limit $4`,
  values: ({ retentionMs, failedTaskMediaMs, after, limit }) => [retentionMs, failedTaskMediaMs, after?.taskId, limit],
});

function expiredMedia(condition: string): string {
  return `(select id, completed_at from tasks where ${condition}
    and ($3::uuid is null or (completed_at, id) > (select completed_at, id from tasks where id = $3))
    order by completed_at, id limit $4)`;
}

export const markMediaDeleted = noRows<[taskId: string]>({
  name: 'mark-media-deleted',
  text: `update tasks set media_deleted_at = now() where id = $1 and (media_deleted_at is null or state = 'fail')`,
});
