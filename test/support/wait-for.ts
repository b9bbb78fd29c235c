import { setTimeout as delay } from 'node:timers/promises';

const pauseMs = 25;
/** A busy machine takes long, and a wait that ends well does not take longer for having had more time. */
const generousMs = 180_000;

/** Waits until `look` returns something other than `false`, and returns it. Throws when that takes longer than `limitMs`. */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  limitMs = generousMs,
): Promise<T> {
  for (const giveUpAt = Date.now() + limitMs; ; await delay(pauseMs)) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (Date.now() > giveUpAt) throw new Error(`waited ${limitMs} ms in vain for ${what}`);
  }
}
