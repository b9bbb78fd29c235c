import { z } from 'zod';
import { maxUploadBytes, maxUploads, uploadKey, uploadTypes, uploadUrl } from '../../domain/upload.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { HttpError, invalidRequest } from '../errors.ts';
import { unixMs } from '../fields.ts';
import { readBytes } from '../server/read-json.ts';

/** Uploads that this process reads and checks at the same time; each holds its image in memory. */
const maxAtOnce = 8;
/** Of one account, so that a slow sender does not stop the uploads of all others. */
const maxOfAccount = 2;
/** The account of each. */
const running: string[] = [];

const megabytes = maxUploadBytes / 1024 / 1024;

/** Takes a reference image, so that it needs no address of its own. */
export const uploadImage = defineEndpoint({
  operationId: 'uploadImage',
  route: 'POST /api/v1/uploads',
  scope: 'tasks:write',
  refusesSuspended: true,
  summary: 'Upload a reference image',
  description:
    `The body is the image itself: JPEG, PNG or WebP, at most ${megabytes} MB, each side 300 to 6000 px, not animated. It is kept as an upright ` +
    'JPEG for as long as videos are. `imageUrl` may stand in `input.imageUrls` of tasks of this account until `expireTime`; it cannot be ' +
    `fetched, \`previewUrl\` can. An account keeps at most ${maxUploads} images, and uploads at most ${maxOfAccount} at a time.`,
  fileTypes: uploadTypes,
  data: z
    .strictObject({
      imageUrl: z.url(),
      previewUrl: z.url().meta({ description: 'A link to the image, signed for a day.' }),
      expireTime: unixMs,
    })
    .meta({ id: 'UploadedImage' }),
  failures: ['invalid_request', 'account_closed', 'too_many_uploads', 'uploads_busy'],
  handler: async ({ caller: { accountId }, ctx }, deps) => {
    const ofAccount = running.filter((one) => one === accountId).length;
    if (running.length >= maxAtOnce || ofAccount >= maxOfAccount) throw new HttpError('uploads_busy');
    running.push(accountId);
    try {
      const image = await readBytes(ctx, { types: uploadTypes, maxBytes: maxUploadBytes });
      const outcome = await deps.keepImage(accountId, image);
      if (outcome.kind === 'too_many') throw new HttpError('too_many_uploads', { data: { limit: maxUploads } });
      if (outcome.kind === 'refused') throw invalidRequest([{ path: '', message: `the image ${outcome.why}` }]);
      const { uploadId, expiresAt } = outcome;
      const previewUrl = deps.resultStore.link(uploadKey(uploadId));
      return { imageUrl: uploadUrl(deps.publicUrl, uploadId), previewUrl, expireTime: expiresAt };
    } finally {
      running.splice(running.indexOf(accountId), 1);
    }
  },
});
