import { frameSize } from '../../media/frame-size.ts';
import { type MediaByRole, noMedia, type ReferenceMedia } from '../../tasks/ports.ts';
import { mediaFields } from '../../tasks/task-input.ts';
import { spellImageReferences } from '../task-values.ts';
import type {
  FrozenConfig,
  Job,
  JobRequest,
  JsonObject,
  JsonValue,
  LostCall,
  Refused,
  RequestBody,
} from '../contract.ts';
import { mediaDataUrls, tooLarge } from '../media-data-urls.ts';
import type { ProviderFile } from './file-schema.ts';
import { usesMedia } from './passed-fields.ts';
import type { UploadedImages } from './uploads.ts';

// The data of expressions in requests. It excludes the addresses that a client gave for media.

type Frozen = { readonly file: ProviderFile; readonly config: FrozenConfig };

/**
 * The contents of media would exceed the bounds of expressions, so these pass on placeholders that no client can write, and
 * `jsonBody` replaces them.
 */
export type Contents = ReadonlyMap<string, string>;

/** Declines media that are too large for a request. */
export async function createData(
  request: JobRequest,
  frozen: Frozen,
  uploaded?: UploadedImages,
): Promise<{ readonly data: JsonObject; readonly contents: Contents } | Refused> {
  const { accountHash, deadlineMs, input, jobKey } = request;
  const { firstFrame, images } = await request.media();
  const { widthPx: width, heightPx: height } = frameSize(input.resolution, input.ratio, firstFrame ?? images[0]);
  const media = await mediaData(request, frozen.file, uploaded);
  if (media === undefined) return tooLarge('reference media of this size');
  const data = {
    ...common(input, frozen),
    jobKey,
    width,
    height,
    ...media.data,
    accountHash,
    deadlineSeconds: Math.ceil(deadlineMs / 1000),
  };
  return { data, contents: media.contents };
}

async function mediaData(request: JobRequest, file: ProviderFile, uploaded: UploadedImages | undefined) {
  const { mediaLinks: links } = request;
  const urls = await mediaDataUrls(await filesInRequest(request, file), file);
  if (urls === undefined) return undefined;
  const contents = new Map<string, string>();
  const linkOf = (url: string) => ({ url });
  const contentOf = (name: string) => (url: string) => {
    const [whole, bare] = [`\0${name} url`, `\0${name} base64`];
    contents.set(whole, url).set(bare, url.slice(url.indexOf(',') + 1));
    return { url: whole, base64: bare };
  };
  const forms = {
    link: () => linkOf,
    'data-url': contentOf,
    upload: () => (name: string) => ({ uploaded: name }),
  } as const;
  const several = (name: string, form: keyof typeof forms, all: readonly string[]) =>
    all.map((one, index) => forms[form](`${name} ${index}`)(one));
  const pictures = file.images === 'link' ? links : (uploaded ?? urls);
  const clips = file.clips === 'link' ? links : urls;
  const [firstFrame] = several('firstFrame', file.images, [pictures.firstFrame ?? []].flat());
  const [lastFrame] = several('lastFrame', file.images, [pictures.lastFrame ?? []].flat());
  const data: MediaByRole<JsonValue> = {
    images: several('image', file.images, pictures.images),
    ...(firstFrame !== undefined && { firstFrame }),
    ...(lastFrame !== undefined && { lastFrame }),
    videos: several('video', file.clips, clips.videos),
    audios: several('audio', file.clips, clips.audios),
  };
  return { data, contents };
}

/** The files that the request that creates the job contains, so that no other is read. */
async function filesInRequest(request: JobRequest, file: ProviderFile): Promise<ReferenceMedia> {
  const all = await request.media();
  const has = (role: keyof ReferenceMedia, by: ProviderFile['images']) => by === 'data-url' && usesMedia(file, [role]);
  const { firstFrame, lastFrame } = all;
  return {
    ...noMedia,
    ...(has('images', file.images) && { images: all.images }),
    ...(has('firstFrame', file.images) && firstFrame !== undefined && { firstFrame }),
    ...(has('lastFrame', file.images) && lastFrame !== undefined && { lastFrame }),
    ...(has('videos', file.clips) && { videos: all.videos }),
    ...(has('audios', file.clips) && { audios: all.audios }),
  };
}

export function jsonBody(value: JsonValue, contents: Contents = new Map()): RequestBody {
  const text = JSON.stringify(value, (_name, one: unknown) =>
    typeof one === 'string' ? (contents.get(one) ?? one) : one,
  );
  return { contentType: 'application/json', bytes: text };
}

export function jobData({ id, handle, input, jobKey }: Job, frozen: Frozen): JsonObject {
  return { ...common(input, frozen), jobKey, job: { id, handle } };
}

/** The data before the job is created. */
export function namedData({ input, jobKey }: JobRequest, frozen: Frozen): JsonObject {
  return { ...common(input, frozen), jobKey };
}

export function lostData({ input, intendedAt, jobKey }: LostCall, frozen: Frozen): JsonObject {
  return { ...common(input, frozen), jobKey, intendedAt };
}

function common(input: JobRequest['input'], { file, config }: Frozen): JsonObject {
  const { prompt } = input;
  const spelling = file.imageReference;
  const imageCount = input.imageUrls.length;
  const spelled = spelling === undefined ? prompt : spellImageReferences(prompt, imageCount, spelling);
  const others = Object.entries(input).filter(([name]) => !mediaFields.some((field) => field.name === name));
  return {
    model: config.upstreamModel,
    parameters: config.options['parameters'] ?? {},
    input: { ...(Object.fromEntries(others) as JsonObject), prompt: spelled },
    imageCount,
    hasFirstFrame: input.firstFrameUrl !== undefined,
    hasLastFrame: input.lastFrameUrl !== undefined,
    videoCount: input.videoUrls?.length ?? 0,
    audioCount: input.audioUrls?.length ?? 0,
  };
}
