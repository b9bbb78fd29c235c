import { z } from 'zod';
import { maxUploadBytes, maxUploads, uploadKey, uploadTypes, uploadUrl } from './upload.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { HttpError, invalidRequest } from '../http/errors.ts';
import { unixMs } from '../http/fields.ts';
import { readBytes } from '../http/server/read-json.ts';

/** Concurrent uploads in this process; each holds its image in memory. */
const maxAtOnce = 8;
/** Keeps a slow sender from blocking the uploads of other accounts. */
const maxOfAccount = 2;
/** The account of each running upload. */
const running: string[] = [];

const megabytes = maxUploadBytes / 1024 / 1024;

export const uploadImage = defineEndpoint({
  operationId: 'uploadImage',
  route: 'POST /api/v1/uploads',
  scope: 'tasks:write',
  refusesSuspended: true,
  summary: 'Upload a reference image',
  description:
    `The body is the image: JPEG, PNG or WebP, at most ${megabytes} MB, each side 300 to 6000 px, not animated. It is stored as an upright JPEG ` +
    'for as long as videos are. Until `expireTime`, `imageUrl` can be used in `input.imageUrls` of this account; only `previewUrl` can be ' +
    `fetched. An account has at most ${maxUploads} images and ${maxOfAccount} concurrent uploads.`,
  fileTypes: uploadTypes,
  data: z
    .strictObject({
      imageUrl: z.url(),
      previewUrl: z.url().meta({ description: 'A link to the image, valid for a day.' }),
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
      const outcome = await deps.storeImage(accountId, image);
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
