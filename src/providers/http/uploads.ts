import { noMedia } from '../../tasks/ports.ts';
import { classifyCreate, type Reply } from '../answers.ts';
import type { JobRequest, JsonObject, NotAccepted, Refused, RequestBody } from '../contract.ts';
import { fittingImages } from '../image-parts.ts';
import { byRole } from '../media-data-urls.ts';
import { formWith } from '../upload-form.ts';
import { answerData, createRules, failureIn } from './answer-meaning.ts';
import type { ProviderFile } from './file-schema.ts';
import { usesMedia } from './passed-fields.ts';
import type { Reader } from './reader.ts';

export type Uploads = {
  readonly file: ProviderFile;
  readonly reader: Reader;
  readonly upload: NonNullable<ProviderFile['upload']>;
  readonly send: (body: RequestBody) => Promise<Reply>;
  /** The data of expressions before an answer. */
  readonly known: JsonObject;
};

/** The names of the uploaded images by role. */
export type UploadedImages = ReturnType<typeof byRole<string>>;

const tries = 3;

/** Sends the images that the request uses. An upload costs nothing, so that one without an answer is repeated. */
export async function uploadImages(
  request: JobRequest,
  uploads: Uploads,
): Promise<UploadedImages | NotAccepted | Refused> {
  const { file } = uploads;
  const all = await request.media();
  const images = usesMedia(file, ['images']) ? all.images : [];
  const firstFrame = usesMedia(file, ['firstFrame']) ? all.firstFrame : undefined;
  const lastFrame = usesMedia(file, ['lastFrame']) ? all.lastFrame : undefined;
  const frames = [firstFrame, lastFrame].filter((frame) => frame !== undefined);
  const names: string[] = [];
  for (const [index, bytes] of (await fittingImages([...images, ...frames], file.maxImageBytes)).entries()) {
    const image = { name: `image-${index + 1}.jpg`, contentType: 'image/jpeg', bytes };
    const name = await uploaded(await formWith(uploads.upload.field, image, {}), uploads);
    if (typeof name !== 'string') return name;
    names.push(name);
  }
  return byRole({ ...noMedia, images, firstFrame, lastFrame }, names, []);
}

async function uploaded(form: RequestBody, uploads: Uploads): Promise<string | NotAccepted | Refused> {
  const { file, reader, upload, send, known } = uploads;
  // An upload is answered in the form of a create; what it creates is the image.
  const asCreate = { ...file, create: { ...file.create, id: upload.value, handle: undefined } };
  let detail = '';
  for (let tried = 0; tried < tries; tried += 1) {
    const reply = await send(form);
    const outcome = classifyCreate(reply, await createRules({ file: asCreate, reader }, reply, known));
    if (outcome.kind === 'accepted') return outcome.id;
    if (outcome.kind !== 'unknown') return outcome;
    // Some upstreams reject an image with a status of 5xx, which proves enough, because no job was requested.
    const error = 'answer' in reply ? await failureIn({ file, reader }, answerData(reply, known)) : undefined;
    if (error !== undefined && error.kind !== 'upstream') return { kind: 'refused', error };
    ({ detail } = outcome);
  }
  return { kind: 'not_accepted', reason: 'unreachable', detail };
}
