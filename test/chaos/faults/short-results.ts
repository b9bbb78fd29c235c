import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ShortfallPolicy } from '../../../src/catalogue/models/model-type-and-name-lookup.ts';

// Upstreams that deliver another film than was ordered, and what a task may cost then. The rule is written down here once more, so that
// the service is compared with it.

/** The films of these upstreams, for any order. Their length is that of the longest order, unless they are brief. */
export const films = {
  whole: { seconds: 6, hasSound: true, isUpright: false },
  brief: { seconds: 2, hasSound: true, isUpright: false },
  silent: { seconds: 6, hasSound: false, isUpright: false },
  'brief and silent': { seconds: 2, hasSound: false, isUpright: false },
  upright: { seconds: 6, hasSound: true, isUpright: true },
} as const satisfies Readonly<Record<string, Film>>;

export type Film = { readonly seconds: number; readonly hasSound: boolean; readonly isUpright: boolean };
export type FilmName = keyof typeof films;
export const filmNames = ['whole', 'brief', 'silent', 'brief and silent', 'upright'] as const satisfies FilmName[];

/** An order of a film, and the film that its upstream makes of it. */
export type ShortOrder = {
  readonly policy: ShortfallPolicy;
  readonly ordered: Film;
  readonly film: FilmName;
};

export const creditsPerSecond = { withSound: 5, silent: 3 } as const;

export function priceOf({ seconds, hasSound }: Film): number {
  return seconds * (hasSound ? creditsPerSecond.withSound : creditsPerSecond.silent);
}

/** The film that the customer gets: sound that was not ordered is removed, and more than ordered costs nothing. */
export function deliveredOf({ ordered, film }: Pick<ShortOrder, 'ordered' | 'film'>): Film {
  const { seconds, hasSound, isUpright } = films[film];
  return { seconds, hasSound: hasSound && ordered.hasSound, isUpright };
}

/** The credits that a task may cost whose film was delivered; undefined if the task has to fail. */
export function dueFor(policy: ShortfallPolicy, ordered: Film, delivered: Film): number | undefined {
  const seconds = Math.min(ordered.seconds, delivered.seconds);
  const isShaped = ordered.isUpright === delivered.isUpright;
  const isWhole = isShaped && seconds === ordered.seconds && (delivered.hasSound || !ordered.hasSound);
  if (isWhole || policy === 'accept') return priceOf(ordered);
  if (policy === 'fail' || !isShaped) return undefined;
  return priceOf({ ...delivered, seconds });
}

/** In a prompt: the film that the upstream makes. */
export function wordFor(film: FilmName): string {
  return `film=${film.replaceAll(' ', '-')}`;
}

export type FilmPaths = (prompt: string) => string;

/** Makes the films, each of one color. Returns the path of the one that a prompt names. */
export async function makeFilms(ffmpeg: string, folder: string): Promise<FilmPaths> {
  const pathOf = (film: FilmName) => join(folder, `${film.replaceAll(' ', '-')}.mp4`);
  for (const name of filmNames) {
    const { seconds, hasSound, isUpright } = films[name];
    const picture = `color=teal:size=${isUpright ? '720x1280' : '1280x720'}:rate=12:duration=${seconds}`;
    const sound = hasSound ? ['-f', 'lavfi', '-i', `sine=duration=${seconds}`, '-c:a', 'aac'] : [];
    const coded = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-movflags', '+faststart'];
    await promisify(execFile)(ffmpeg, ['-f', 'lavfi', '-i', picture, ...sound, ...coded, '-y', pathOf(name)]);
  }
  return (prompt) => pathOf(filmNames.find((name) => prompt.includes(`${wordFor(name)} `)) ?? 'whole');
}
