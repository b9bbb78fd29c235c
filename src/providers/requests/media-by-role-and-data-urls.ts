import type { JsonObject } from '../../platform/text/json.ts';
import { readFile, stat } from 'node:fs/promises';
import sharp from 'sharp';
import {
  type MediaByRole,
  type MediaRole,
  mediaRoles,
  noMedia,
  type PreparedReferenceClip,
  type PreparedReferenceImage,
  type PreparedMediaByRole,
} from '../../catalogue/media/media-by-role.ts';
import { TaskError } from '../../catalogue/tasks/task-error.ts';
import type { Refused } from '../provider-contract.ts';

// Reference media as parts of a request to an upstream. Images and clips were re-encoded by us, so their types are known.

/** Leaves out the media of roles that a request does not use. */
export function mediaOfRoles(all: PreparedMediaByRole, uses: (role: MediaRole) => boolean): PreparedMediaByRole {
  return { ...noMedia, ...Object.fromEntries(mediaRoles.filter(uses).map((role) => [role, all[role]])) };
}

/** Images and frames together, because the bounds of a request apply to all of them. */
export function imagesAndFramesOf({
  images,
  firstFrame,
  lastFrame,
}: PreparedMediaByRole): readonly PreparedReferenceImage[] {
  return [...images, firstFrame, lastFrame].filter((one) => one !== undefined);
}

type TypedClip = PreparedReferenceClip & { readonly contentType: string; readonly extension: string };

export function videosAndAudiosOf({ videos, audios }: PreparedMediaByRole): readonly TypedClip[] {
  return [
    ...videos.map((clip) => ({ ...clip, contentType: 'video/mp4', extension: 'mp4' })),
    ...audios.map((clip) => ({ ...clip, contentType: 'audio/mpeg', extension: 'mp3' })),
  ];
}

/** Distributes what was made of the pictures, and then of the clips, in the order of `imagesAndFramesOf` and `videosAndAudiosOf`. */
export function regroupByRole<Made>(media: PreparedMediaByRole, made: readonly Made[]): MediaByRole<Made> {
  const left = [...made];
  const frame = (file: PreparedReferenceImage | undefined) => file && left.shift();
  // The fields take their parts in this order.
  return {
    images: left.splice(0, media.images.length),
    firstFrame: frame(media.firstFrame),
    lastFrame: frame(media.lastFrame),
    videos: left.splice(0, media.videos.length),
    audios: left,
  };
}

/** The image that an adaptive ratio follows. */
export function adaptiveRatioImage({
  firstFrame,
  lastFrame,
  images,
}: PreparedMediaByRole): PreparedReferenceImage | undefined {
  return firstFrame ?? images[0] ?? lastFrame;
}

/** Data URLs of the pictures, of at most `maxBytes` characters in all, without clips. Throws as `shrinkImagesToFit` does. */
export async function imageDataUrlsByRole(media: PreparedMediaByRole, maxBytes: number): Promise<MediaByRole<string>> {
  return regroupByRole(media, await fittingImageDataUrls(imagesAndFramesOf(media), maxBytes));
}

/**
 * Data URLs of all media: the pictures of at most `maxImageBytes` characters in all, for which they are made smaller, and the clips of
 * at most `maxClipBytes`. Undefined when the clips do not fit, because they are not made smaller.
 */
export async function mediaDataUrlsByRole(
  media: PreparedMediaByRole,
  { maxImageBytes, maxClipBytes }: { readonly maxImageBytes: number; readonly maxClipBytes: number },
): Promise<MediaByRole<string> | undefined> {
  const pictures = await fittingImageDataUrls(imagesAndFramesOf(media), maxImageBytes);
  const clips = await clipDataUrls(videosAndAudiosOf(media), maxClipBytes);
  return clips && regroupByRole(media, [...pictures, ...clips]);
}

async function clipDataUrls(clips: readonly TypedClip[], maxBytes: number): Promise<readonly string[] | undefined> {
  const urls: string[] = [];
  let left = maxBytes;
  for (const { path, contentType } of clips) {
    const prefix = `data:${contentType};base64,`;
    const { size } = await stat(path);
    // Base64 writes four characters for three bytes, and fills up the last four.
    left -= prefix.length + 4 * Math.ceil(size / 3);
    if (left < 0) return undefined;
    urls.push(prefix + (await readFile(path)).toString('base64'));
  }
  return urls;
}

type PartType = 'image_url' | 'video_url' | 'audio_url';

/** Addresses as parts of a message, in the form of OpenAI's API. */
export function urlContentParts(
  type: PartType,
  urls: string | readonly string[] = [],
  more: JsonObject = {},
): readonly JsonObject[] {
  return [urls].flat().map((url) => ({ type, [type]: { url }, ...more }));
}

/** Another provider may take what this one cannot. */
export function refusedAsTooLarge(what: string): Refused {
  return { kind: 'refused', error: { kind: 'input', detail: `${what} cannot be sent to this provider` } };
}

export async function fittingImageDataUrls(
  images: readonly PreparedReferenceImage[],
  maxBytes: number,
): Promise<readonly string[]> {
  const prefix = 'data:image/jpeg;base64,';
  // Base64 writes four characters for three bytes, and fills up the last four.
  const perImage = prefix.length + 4;
  const jpegs = await shrinkImagesToFit(images, Math.floor(((maxBytes - images.length * perImage) * 3) / 4));
  return jpegs.map((jpeg) => prefix + jpeg.toString('base64'));
}

/** Images that are too large for a provider are scaled down in these steps. */
const shrinkings = [
  { maxSidePx: 2048, quality: 90 },
  { maxSidePx: 1024, quality: 80 },
] as const;

type Shrinking = (typeof shrinkings)[number];

/**
 * The images, in order, of at most `maxBytes` in all: as they are, or all of them made smaller. Throws a `TaskError`
 * (`image_invalid`) when they do not fit even then.
 */
export async function shrinkImagesToFit(
  images: readonly PreparedReferenceImage[],
  maxBytes: number,
): Promise<readonly Buffer[]> {
  for (const shrinking of [undefined, ...shrinkings]) {
    const jpegs = await jpegsWithin(images, maxBytes, shrinking);
    if (jpegs !== undefined) return jpegs;
  }
  throw new TaskError('image_invalid', 'The images are too large in all for this model.');
}

/** Stops at the first image beyond `maxBytes`, so memory holds at most `maxBytes` and one more image. */
async function jpegsWithin(
  images: readonly PreparedReferenceImage[],
  maxBytes: number,
  shrinking: Shrinking | undefined,
): Promise<readonly Buffer[] | undefined> {
  const jpegs: Buffer[] = [];
  let bytes = 0;
  for (const { path } of images) {
    const original = await readFile(path);
    const jpeg = shrinking === undefined ? original : await shrunk(original, shrinking);
    bytes += jpeg.length;
    if (bytes > maxBytes) return undefined;
    jpegs.push(jpeg);
  }
  return jpegs;
}

async function shrunk(jpeg: Buffer, { maxSidePx, quality }: Shrinking): Promise<Buffer> {
  const size = { width: maxSidePx, height: maxSidePx, fit: 'inside', withoutEnlargement: true } as const;
  return await sharp(jpeg).resize(size).jpeg({ quality }).toBuffer();
}
