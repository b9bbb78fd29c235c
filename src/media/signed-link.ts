import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Task } from '../domain/task.ts';

export type LinkSignerOptions = {
  /** The installation's secret; the signing key is derived from it, so no other use of the secret can forge a link. */
  readonly secret: string;
  /** Base address of the service, without a slash at its end. */
  readonly publicUrl: string;
  readonly now?: (() => number) | undefined;
};

/** A link to the media route, as the client sent it. */
export type PresentedLink = { readonly key: string; readonly expires: string; readonly signature: string };

/** Of a client's link to its result. */
const linkLifeMs = 24 * 60 * 60_000;
const purpose = 'videogen media links, version 1';

export function createLinkSigner({ secret, publicUrl, now = Date.now }: LinkSignerOptions) {
  const signingKey = Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
  // No key holds a line feed, so the two parts cannot run into each other.
  const signatureOf = (key: string, expires: string) =>
    createHmac('sha256', signingKey).update(`${key}\n${expires}`).digest('base64url');
  return {
    /** An absolute URL to `/media/<key>`, good from now on for so long. */
    sign: (key: string, lifeMs = linkLifeMs): string => {
      const expires = String(Math.floor((now() + lifeMs) / 1000));
      return `${publicUrl}/media/${key}?expires=${expires}&signature=${signatureOf(key, expires)}`;
    },
    /** The end of the link's life in Unix milliseconds, or undefined when it is altered, expired or for another key. */
    verify: ({ key, expires, signature }: PresentedLink): number | undefined => {
      if (!/^\d{1,12}$/.test(expires) || !sameText(signature, signatureOf(key, expires))) return undefined;
      const expiresAt = Number(expires) * 1000;
      return expiresAt > now() ? expiresAt : undefined;
    },
  };
}

/** Compares in constant time, and as text: decoding base64url would let two spellings of one signature pass. */
function sameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Fresh links to a task's video: empty until success, and again once the media has passed its retention. */
export function resultUrls(store: { link(key: string): string }, task: Task): readonly string[] {
  if (task.result === undefined || task.mediaDeletedAt !== undefined) return [];
  return [store.link(task.result.videoKey)];
}
