import type { JsonObject } from '../../platform/text/json.ts';
import { type MediaByRole, noMedia } from '../../catalogue/media/media-by-role.ts';
import { classifyCreate, type AnswerOrError } from '../classify-upstream-answers.ts';
import type { JobRequest, NotAccepted, Refused, RequestBody } from '../provider-contract.ts';
import { mediaOfRoles } from '../requests/media-by-role-and-data-urls.ts';
import { type FileUploadOutcome, uploadMedia } from '../requests/upload-media.ts';
import { formBody } from '../requests/request-bodies.ts';
import { answerData, rulesForCreateAnswer, upstreamErrorInAnswer } from './answer-meaning.ts';
import type { ProviderFile } from '../../catalogue/providers/provider-file-schema.ts';
import { usesMedia } from '../../catalogue/providers/fields-passed-by-provider-file.ts';
import type { ExpressionReader } from './evaluate-expressions-by-priority.ts';

export type ImageUploadDeps = {
  readonly file: ProviderFile;
  readonly reader: ExpressionReader;
  readonly upload: NonNullable<ProviderFile['upload']>;
  readonly send: (body: RequestBody) => Promise<AnswerOrError>;
  /** The data of expressions before an answer. */
  readonly known: JsonObject;
};

/** Sends the images that the request uses, and returns what the upstream named them. Clips are never uploaded. */
export async function uploadImages(
  request: JobRequest,
  uploads: ImageUploadDeps,
): Promise<MediaByRole<string> | NotAccepted | Refused> {
  const { file } = uploads;
  const { images, firstFrame, lastFrame } = mediaOfRoles(await request.media(), (role) => usesMedia(file, [role]));
  return await uploadMedia({ ...noMedia, images, firstFrame, lastFrame }, file, async (image) =>
    stored(await formBody([[uploads.upload.field, image]]), uploads),
  );
}

async function stored(
  form: RequestBody,
  { file, reader, upload, send, known }: ImageUploadDeps,
): Promise<FileUploadOutcome<string>> {
  // An upload is answered in the form of a create; what it creates is the image.
  const asCreate = { ...file, create: { ...file.create, id: upload.value, handle: undefined } };
  const reply = await send(form);
  const outcome = classifyCreate(reply, await rulesForCreateAnswer({ file: asCreate, reader }, reply, known));
  if (outcome.kind === 'accepted') return { stored: outcome.id };
  if (outcome.kind !== 'unknown' || 'error' in reply) return outcome;
  // Some upstreams reject an image with a status of 5xx, which proves enough, because no job was requested.
  const error = await upstreamErrorInAnswer({ file, reader }, answerData(reply, known));
  return error.kind === 'upstream' ? outcome : { kind: 'refused', error };
}
