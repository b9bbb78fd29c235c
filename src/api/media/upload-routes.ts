import { z } from 'zod';
import { bytesToDetectFormat, formatOfBytes } from '../../media/references/file-format.ts';
import {
  imageLimitsText,
  maxUploadBytesOfKind,
  maxUploadMegabytes,
  maxUploadsOfAccount,
  formatsTextByKind,
  uploadKey,
  kindByStoredName,
  uploadMediaTypes,
  uploadUrl,
} from '../../media/references/upload-limits-and-addresses.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { HttpError, invalidRequest } from '../core/http-error.ts';
import { maxAccountUploadsAtOnce, withUploadSlot } from '../core/limits/upload-slots.ts';
import { unixMsSchema } from '../core/request-fields.ts';
import { strictQuery, textParameter } from '../core/query-parameters.ts';
import { allowSlowBody } from '../core/server/body-time-limit.ts';
import { isMultipartForm, maxFormOverheadBytes, saveOnlyFileOfForm } from '../core/server/save-file-of-form.ts';
import {
  requireSizeWithinLimit,
  type LimitByFirstBytes,
  saveBodyToFile,
} from '../core/server/read-or-save-body-within-limits.ts';
import type { InlineMediaDeps } from '../dialects/inline-media.ts';
import type { LinkSigner } from '../tasks/task-view.ts';
import { type PreviewDeps, uploadPreviewsOf } from '../../media/references/upload-preview-links.ts';
import { mediaFields } from '../../catalogue/input/task-input.ts';
import type { MediaKind } from '../../catalogue/input/resolutions-ratios-and-field-bounds.ts';

const kinds = ['image', 'video', 'audio'] as const satisfies readonly MediaKind[];
const types = [...kinds.flatMap((kind): readonly string[] => uploadMediaTypes[kind]), 'application/octet-stream'];
const fieldNames = mediaFields.map(({ name }) => name);

const largest = maxUploadBytesOfKind('video');
/** A file of no known format is refused anyway, so it has the least limit. */
const limit: LimitByFirstBytes = {
  minBytes: maxUploadBytesOfKind('image'),
  startBytes: bytesToDetectFormat,
  limitOf: (start) => maxUploadBytesOfKind(kinds.find((kind) => kind === mediaKindOf(start)) ?? 'image'),
};

type UploadDeps = InlineMediaDeps & { readonly resultStore: LinkSigner };

export const uploadMedia = defineEndpoint({
  operationId: 'uploadMedia',
  route: 'POST /api/v1/uploads',
  scope: 'tasks:write',
  refusesSuspended: true,
  summary: 'Upload a reference image, video or audio file',
  description:
    `The body is the file, or a form (\`multipart/form-data\`) with one file: a ${formatsTextByKind.image} image ` +
    `${imageLimitsText(maxUploadMegabytes.image)}, not animated; an ${formatsTextByKind.video} video of at most ${maxUploadMegabytes.video} MB; ` +
    `or an ${formatsTextByKind.audio} file of at most ${maxUploadMegabytes.audio} MB. Its content decides what it is; the type may be any, ` +
    'or missing. It is stored for as long as videos are, an image as an upright JPEG. ' +
    'Until `expireTime`, `url` can be used in the `fields` of `input` by this account; only `previewUrl` can be fetched. ' +
    `An account has at most ${maxUploadsOfAccount} files and ${maxAccountUploadsAtOnce} concurrent uploads.`,
  fileTypes: types,
  takesAnyType: true,
  data: z
    .strictObject({
      url: z.url(),
      kind: z.enum(kinds),
      fields: z.array(z.enum(fieldNames)).meta({ description: 'The fields of `input` that take the file.' }),
      previewUrl: z.url().meta({ description: 'A link to the file, valid for a day.' }),
      expireTime: unixMsSchema,
    })
    .meta({ id: 'UploadedMedia' }),
  failures: ['invalid_request', 'malformed_form', 'account_closed', 'too_many_uploads', 'uploads_busy'],
  handler: async ({ caller: { accountId }, ctx }, deps: UploadDeps) => {
    const maxBytes = isMultipartForm(ctx) ? largest + maxFormOverheadBytes : largest;
    const receive = (path: string) =>
      isMultipartForm(ctx) ? saveOnlyFileOfForm(ctx, path, maxBytes) : saveBodyToFile(ctx, path, maxBytes, limit);
    return withUploadSlot({ accountId, bytes: requireSizeWithinLimit(ctx, maxBytes) }, async () => {
      // A video takes minutes on a slow line.
      allowSlowBody(ctx.req);
      const outcome = await deps.storeUpload(accountId, receive);
      if (outcome.kind === 'too_many')
        throw new HttpError('too_many_uploads', { data: { limit: maxUploadsOfAccount } });
      if (outcome.kind === 'refused') throw invalidRequest([{ path: '', message: `the file ${outcome.why}` }]);
      const { upload, expiresAt } = outcome;
      const kind = kindByStoredName[upload.fileName];
      return {
        url: uploadUrl(deps.publicUrl, upload),
        kind,
        fields: mediaFields.filter(({ media }) => media === kind).map(({ name }) => name),
        previewUrl: deps.resultStore.link(uploadKey(upload)),
        expireTime: expiresAt,
      };
    });
  },
});

function mediaKindOf(start: Buffer): string | undefined {
  const format = formatOfBytes(start);
  return format?.name === 'an MP4 file' ? 'video' : format?.kind;
}

/** Bounds the read. Create requests name fewer files, unless a model takes the maximum of every kind. */
const maxPreviews = 50;

export const previewUploads = defineEndpoint({
  operationId: 'previewUploads',
  route: 'GET /api/v1/uploads/previews',
  scope: 'tasks:read',
  summary: 'Show uploaded files',
  description:
    `Returns links to uploaded files. \`urls\` are up to ${maxPreviews} of the addresses that uploads returned, separated by commas. Files ` +
    'that the account does not have, or no longer has, are left out.',
  query: strictQuery({
    urls: textParameter('is required')
      .min(1)
      .transform((text) => text.split(','))
      .refine((urls) => urls.length <= maxPreviews, { error: `must be at most ${maxPreviews} addresses` })
      .meta({ type: 'string' }),
  }),
  data: z.strictObject({
    previews: z
      .array(z.strictObject({ url: z.string(), previewUrl: z.url() }))
      .meta({ description: 'Signed links, valid for a day.' }),
  }),
  handler: async ({ caller: { accountId }, query: { urls } }, deps: PreviewDeps) => ({
    previews: await uploadPreviewsOf(deps, accountId, urls),
  }),
});
