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
): Promise<{ readonly data: JsonObject; readonly contents: Contents } | Refused> {
  const { accountHash, deadlineMs, input, jobKey } = request;
  const { firstFrame, images } = await request.media();
  const { widthPx: width, heightPx: height } = frameSize(input.resolution, input.ratio, firstFrame ?? images[0]);
  const media = await mediaData(request, frozen.file);
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

async function mediaData(request: JobRequest, file: ProviderFile) {
  const { mediaLinks: links } = request;
  const [areLinks, areClipLinks] = [file.images === 'link', file.clips === 'link'];
  const urls = await mediaDataUrls(await filesInRequest(request, file), file);
  if (urls === undefined) return undefined;
  const contents = new Map<string, string>();
  const linkOf = (url: string) => ({ url });
  const contentOf = (name: string) => (url: string) => {
    const [whole, bare] = [`\0${name} url`, `\0${name} base64`];
    contents.set(whole, url).set(bare, url.slice(url.indexOf(',') + 1));
    return { url: whole, base64: bare };
  };
  const several = (name: string, isLink: boolean, all: readonly string[]) =>
    all.map((url, index) => (isLink ? linkOf : contentOf(`${name} ${index}`))(url));
  const one = (name: string, url: string | undefined) => url && (areLinks ? linkOf : contentOf(name))(url);
  const [pictures, clips] = [areLinks ? links : urls, areClipLinks ? links : urls];
  const firstFrame = one('firstFrame', pictures.firstFrame);
  const lastFrame = one('lastFrame', pictures.lastFrame);
  const data: MediaByRole<JsonValue> = {
    images: several('image', areLinks, pictures.images),
    ...(firstFrame !== undefined && { firstFrame }),
    ...(lastFrame !== undefined && { lastFrame }),
    videos: several('video', areClipLinks, clips.videos),
    audios: several('audio', areClipLinks, clips.audios),
  };
  return { data, contents };
}

/** The files that the request that creates the job contains, so that no other is read. */
async function filesInRequest(request: JobRequest, file: ProviderFile): Promise<ReferenceMedia> {
  const all = await request.media();
  const has = (role: keyof ReferenceMedia, by: 'link' | 'data-url') => by === 'data-url' && usesMedia(file, [role]);
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
