import { readFile, stat } from 'node:fs/promises';
import type { MediaByRole, ReferenceMedia } from '../../tasks/ports.ts';
import { fillPlaceholders } from '../placeholders.ts';
import { classifyPoll, type Poll, type Reply } from '../answers.ts';
import type {
  FrozenConfig,
  JobRequest,
  JsonObject,
  JsonValue,
  NotAccepted,
  Refused,
  RequestBody,
} from '../contract.ts';
import { fittingImages } from '../image-parts.ts';
import { audioType, byRole, tooLarge, videoType } from '../media-data-urls.ts';
import type { PolledProviderDeps } from '../polled-provider.ts';
import type { UploadedFile } from '../upload-form.ts';
import { mediaFor, taskValues } from '../task-values.ts';

// A workflow of ComfyUI as its editor exports it for the API: a map of nodes, with placeholders in their inputs. Its form is
// checked when the catalogue is read. Both kinds that run workflows fill it in here, and find the video among what it wrote.

/** `config.options.parameters`: size and frame rate. */
export type WorkflowProviderDeps = PolledProviderDeps & {
  /** Returns the workflow of the catalogue in force. Only the create needs it, so it is not frozen with the job. */
  readonly workflow: () => JsonObject;
};

const [maxImageBytes, maxClipBytes, uploadTries] = [60_000_000, 60_000_000, 3];

export type Upload = {
  readonly form: (file: UploadedFile) => Promise<RequestBody>;
  readonly send: (body: RequestBody) => Promise<Reply>;
  /** Returns the graph's reference to the stored file; undefined when the answer has none. */
  readonly reference: (body: JsonObject) => JsonValue | undefined;
};

/** Fills the graph for a task. It uploads the media that the workflow uses first; a failed upload is safe to retry. */
export async function filledWorkflow(
  workflow: JsonObject,
  request: JobRequest,
  config: FrozenConfig,
  upload: Upload,
): Promise<{ readonly graph: JsonValue | undefined } | NotAccepted | Refused> {
  const { used, shape } = await mediaFor(workflow, request);
  const stored = await storeMedia(used, upload);
  if ('declined' in stored) return stored.declined;
  return { graph: fillPlaceholders(workflow, taskValues(withTexts(request), config, shape, stored.media)) };
}

/** Nodes for texts require one, so a task without a negative prompt has an empty one. */
function withTexts(request: JobRequest): JobRequest {
  const { negativePrompt = '' } = request.input;
  return { ...request, input: { ...request.input, negativePrompt } };
}

type Declined = { readonly declined: NotAccepted | Refused };

async function storeMedia(
  media: ReferenceMedia,
  upload: Upload,
): Promise<{ readonly media: MediaByRole<JsonValue> } | Declined> {
  const { firstFrame, lastFrame, videos, audios } = media;
  const frames = [firstFrame, lastFrame].filter((frame) => frame !== undefined);
  const references: JsonValue[] = [];
  for (const [index, bytes] of (await fittingImages([...media.images, ...frames], maxImageBytes)).entries()) {
    const reference = await uploaded({ name: `${index + 1}.jpg`, contentType: 'image/jpeg', bytes }, upload);
    if ('declined' in reference) return reference;
    references.push(reference.value);
  }
  const clips: JsonValue[] = [];
  for (const [index, { path }] of [...videos, ...audios].entries()) {
    const { size } = await stat(path);
    if (size > maxClipBytes) return { declined: tooLarge(`a reference clip of ${size} bytes`) };
    const type = index < videos.length ? videoType : audioType;
    const bytes = await readFile(path);
    const reference = await uploaded({ name: `clip-${index + 1}.${type.extension}`, ...type, bytes }, upload);
    if ('declined' in reference) return reference;
    clips.push(reference.value);
  }
  return { media: byRole({ images: media.images, firstFrame, lastFrame, videos }, references, clips) };
}

async function uploaded(
  file: UploadedFile,
  { form, send, reference }: Upload,
): Promise<{ readonly value: JsonValue } | Declined> {
  const body = await form(file);
  let poll: Poll = { status: { state: 'missing' } };
  for (let tries = 0; tries < uploadTries && 'status' in poll; tries += 1) {
    poll = classifyPoll(await send(body), () => false);
  }
  const value = 'body' in poll ? reference(poll.body) : undefined;
  if (value !== undefined) return { value };
  const detail =
    'status' in poll && 'detail' in poll.status ? poll.status.detail : 'an upload was answered without a name';
  return { declined: { kind: 'not_accepted', reason: 'unreachable', detail } };
}

/** Only the name distinguishes a video from a picture: nodes list both under `images`. */
export function isVideoFile(name: string): boolean {
  return /\.(?:mp4|webm|mov|mkv|avi|gif)$/i.test(name);
}
