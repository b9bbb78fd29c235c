import { z } from 'zod';
import { dayMs } from '../../platform/timing/milliseconds-per-unit.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithClock, WithDb } from '../core/endpoint-spec.ts';
import { HttpError, invalidRequest } from '../core/http-error.ts';
import { idField, maxUnixMs, uncheckedIdField, oneLineTextField, unixMsSchema } from '../core/request-fields.ts';
import { idParameter, strictQuery } from '../core/query-parameters.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';
import { addressAndUserAgentOf } from '../sign-in/authenticate-session.ts';
import { videoNotFoundError, requireUuidTaskIds } from './gallery-routes.ts';
import {
  listShareLinksOfVideo,
  maxShareLinkDays,
  maxShareLinksOfVideo,
  maxShareTitleLength,
  revokeShareLink,
  type ShareLink,
  sharePathPrefix,
  shareVideo,
} from '../../library/gallery/share-links.ts';

const linkSchema = z
  .strictObject({
    linkId: z.string(),
    taskId: z.string(),
    title: z.string().nullable(),
    showsAccountName: z.boolean(),
    createTime: unixMsSchema,
    expireTime: unixMsSchema,
  })
  .meta({ id: 'ShareLink' });

export function presentShareLink(link: ShareLink) {
  const { showsAccount: showsAccountName, createdAt: createTime, expiresAt: expireTime } = link;
  return pickRowFieldsBySchema(linkSchema, { ...link, showsAccountName, createTime, expireTime });
}

const expireError = `must be a future time in Unix milliseconds, at most ${maxShareLinkDays} days from now`;
const defaultLifeMs = 7 * dayMs;

const share = defineEndpoint({
  operationId: 'shareVideo',
  route: 'POST /api/v1/gallery/share',
  scope: 'tasks:write',
  refusesSuspended: true,
  summary: 'Share a video',
  description:
    'Creates a link to a page with this video and its poster, for anyone who has the link. The page shows neither the prompt nor the ' +
    `account, unless you choose its name. Only this response contains the link. A video has at most ${maxShareLinksOfVideo} links.`,
  body: z.strictObject({
    taskId: uncheckedIdField.min(1, { error: 'is required' }),
    title: oneLineTextField(maxShareTitleLength).nullish().meta({ description: 'The title on the page.' }),
    showsAccountName: z.boolean({ error: 'must be true or false' }).nullish(),
    expireTime: z
      .int({ error: expireError })
      .max(maxUnixMs, { error: expireError })
      .nullish()
      .meta({
        description: `Unix milliseconds, at most ${maxShareLinkDays} days from now; 7 days from now by default. The link ends earlier if its video is deleted, at the latest with its retention.`,
      }),
  }),
  data: z.strictObject({
    link: linkSchema,
    url: z.url().meta({ description: 'The address of the page. It is not shown again.' }),
  }),
  failures: ['task_not_found', 'too_many_share_links'],
  handler: async (
    { caller: { accountId, by }, input, ctx },
    { db, now, publicUrl }: WithDb & WithClock & { readonly publicUrl: string },
  ) => {
    const [taskId = ''] = requireUuidTaskIds([input.taskId]);
    const { title, showsAccountName, expireTime } = input;
    const expiresAt = expireTime ?? now() + defaultLifeMs;
    if (expiresAt <= now() || expiresAt > now() + maxShareLinkDays * dayMs)
      throw invalidRequest([{ path: 'expireTime', message: expireError }]);
    const shared = await shareVideo(
      db,
      { accountId, by, origin: addressAndUserAgentOf(ctx) },
      { taskId, title: title?.trim(), showsAccount: showsAccountName ?? false, expiresAt },
    );
    if (shared.kind === 'not_found') throw videoNotFoundError();
    if (shared.kind === 'too_many')
      throw new HttpError('too_many_share_links', { data: { limit: maxShareLinksOfVideo } });
    return { link: presentShareLink(shared.link), url: `${publicUrl}${sharePathPrefix}${shared.token}` };
  },
});

const list = defineEndpoint({
  operationId: 'listShareLinks',
  route: 'GET /api/v1/gallery/shareLinks',
  scope: 'tasks:read',
  summary: 'List the share links of a video',
  description: 'Lists the links that have not expired, newest first, without their addresses.',
  query: strictQuery({ taskId: idParameter('a task') }),
  data: z.strictObject({ links: z.array(linkSchema).max(maxShareLinksOfVideo) }),
  handler: async ({ caller: { accountId }, query }, { db }) => ({
    links: (await listShareLinksOfVideo(db, accountId, query.taskId)).map(presentShareLink),
  }),
});

const revoke = defineEndpoint({
  operationId: 'revokeShareLink',
  route: 'POST /api/v1/gallery/revokeLink',
  scope: 'tasks:write',
  summary: 'Revoke a share link',
  description: 'Ends a link. A player that has loaded its page may play the video for up to an hour more.',
  body: z.strictObject({ linkId: idField('a share link') }),
  data: z.strictObject({}).meta({ id: 'RevokedShareLink' }),
  failures: ['share_link_not_found'],
  handler: async ({ caller: { accountId, by }, input, ctx }, { db }) => {
    const isRevoked = await revokeShareLink(db, { accountId, by, origin: addressAndUserAgentOf(ctx) }, input.linkId);
    if (!isRevoked) throw new HttpError('share_link_not_found');
    return {};
  },
});

export const shareEndpoints = [share, list, revoke];
