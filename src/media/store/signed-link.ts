import { dayMs } from '../../platform/timing/milliseconds-per-unit.ts';
import { createSigner } from './signer.ts';
import type { Task } from '../../catalogue/tasks/task.ts';

export type LinkSignerOptions = {
  readonly secret: string;
  /** Links that these have signed stay valid. */
  readonly secretPrevious?: readonly string[] | undefined;
  /** Base address of the service, without a slash at its end. */
  readonly publicUrl: string;
  readonly now?: (() => number) | undefined;
};

export type VideoAndLastFrameLinks = { readonly resultUrls: readonly string[]; readonly lastFrameUrl?: string };

/** A link to the media route, as the client sent it. */
export type PresentedLink = { readonly key: string; readonly expires: string; readonly signature: string };

export const resultLinkLifeMs = dayMs;

/**
 * A previous secret is needed for this long after the last process has stopped signing with it. The longest links are those to reference media for upstreams:
 * they are valid for the deadline of the model, a day at most, and an hour more.
 */
export const keepPreviousSecretMs = 2 * dayMs;

export function createLinkSigner({ secret, secretPrevious, publicUrl, now = Date.now }: LinkSignerOptions) {
  const signer = createSigner(secret, 'videogen media links, version 1', secretPrevious);
  // No key contains a line feed, so the two parts stay separate.
  const textOf = (key: string, expires: string) => `${key}\n${expires}`;
  return {
    /** Returns an absolute URL to `/media/<key>` that is valid for `lifeMs`. */
    sign: (key: string, lifeMs = resultLinkLifeMs): string => {
      const expires = String(Math.floor((now() + lifeMs) / 1000));
      return `${publicUrl}/media/${key}?expires=${expires}&signature=${signer.sign(textOf(key, expires))}`;
    },
    /** Returns when the link expires, in Unix milliseconds; undefined if it was altered, has expired or is for another key. */
    verify: ({ key, expires, signature }: PresentedLink): number | undefined => {
      if (!/^\d{1,12}$/.test(expires) || !signer.isSigned(textOf(key, expires), signature)) return undefined;
      const expiresAt = Number(expires) * 1000;
      return expiresAt > now() ? expiresAt : undefined;
    },
  };
}

/** Returns fresh links to a task's video and its last frame: none before its success, and none after the media was deleted. */
export function signVideoAndLastFrameLinks(
  store: { link(key: string): string },
  { result, mediaDeletedAt }: Task,
): VideoAndLastFrameLinks {
  if (result === undefined || mediaDeletedAt !== undefined) return { resultUrls: [] };
  const { videoKey, lastFrameKey } = result;
  const lastFrame = lastFrameKey === undefined ? {} : { lastFrameUrl: store.link(lastFrameKey) };
  return { resultUrls: [store.link(videoKey)], ...lastFrame };
}
