import { readFile, stat } from 'node:fs/promises';
import type { MediaByRole, ReferenceClip, ReferenceMedia } from '../tasks/ports.ts';
import type { Refused } from './contract.ts';
import { imageDataUrls } from './image-parts.ts';

// Reference media as parts of a request to an upstream. Clips were re-encoded by us, so their types are known.

export const videoType = { contentType: 'video/mp4', extension: 'mp4' } as const;
export const audioType = { contentType: 'audio/mp4', extension: 'm4a' } as const;

/**
 * Data URLs of all media, by role: the images of at most `maxImageBytes` characters in all, for which they are made smaller, and the
 * clips of at most `maxClipBytes`. Undefined when the clips do not fit, because they are not made smaller.
 */
export async function mediaDataUrls(
  { images, firstFrame, lastFrame, videos, audios }: ReferenceMedia,
  { maxImageBytes, maxClipBytes }: { readonly maxImageBytes: number; readonly maxClipBytes: number },
): Promise<MediaByRole<string> | undefined> {
  const frames = [firstFrame, lastFrame].filter((frame) => frame !== undefined);
  const urls = await imageDataUrls([...images, ...frames], maxImageBytes);
  const clips = await clipDataUrls(
    [...videos.map((clip) => ({ ...clip, ...videoType })), ...audios.map((clip) => ({ ...clip, ...audioType }))],
    maxClipBytes,
  );
  if (clips === undefined) return undefined;
  return byRole({ images, firstFrame, lastFrame, videos }, urls, clips);
}

type Roles = Pick<ReferenceMedia, 'images' | 'videos'> & {
  readonly firstFrame: object | undefined;
  readonly lastFrame: object | undefined;
};

/** Distributes what was made of the images, followed by first and last frame, and of the videos, followed by the audios. */
export function byRole<Made>(
  { images, firstFrame, lastFrame, videos }: Roles,
  pictures: readonly Made[],
  clips: readonly Made[],
): MediaByRole<Made> {
  const frames = pictures.slice(images.length);
  const [first] = firstFrame === undefined ? [] : frames;
  const last = lastFrame === undefined ? undefined : frames.at(-1);
  return {
    images: pictures.slice(0, images.length),
    ...(first !== undefined && { firstFrame: first }),
    ...(last !== undefined && { lastFrame: last }),
    videos: clips.slice(0, videos.length),
    audios: clips.slice(videos.length),
  };
}

async function clipDataUrls(
  clips: readonly (ReferenceClip & { readonly contentType: string })[],
  maxBytes: number,
): Promise<readonly string[] | undefined> {
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

/** Another provider may take what this one cannot. */
export function tooLarge(what: string): Refused {
  return { kind: 'refused', error: { kind: 'input', detail: `${what} cannot be sent to this provider` } };
}
