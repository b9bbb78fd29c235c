/** One title: what it says, and when, in frames of the film. */
export type TitleCard = { readonly text: string; readonly fromFrame: number; readonly frames: number };

export type CardTimes = {
  readonly filmFrames: number;
  readonly framesPerSecond: number;
  /** How much longer than needed a title may stay when there is time left. */
  readonly longestStretch: number;
};

/** The pace of good subtitles: 17 characters a second, after a moment to notice the new title. */
const charactersPerSecond = 17;
const noticeSeconds = 0.7;

/** More than this is a paragraph, not a title. */
const mostCharacters = 72;

/** Room for the word that is cut at the border. */
const longestWordLeftOver = 8;

/** Pictures alone, before the first title and after the last one. */
const leadSeconds = 0.3;
const tailSeconds = 0.35;

/**
 * Splits a text into titles that can be read one after the other within the film, breaking at the end of a sentence or
 * clause where one is near. What does not fit is left out, and the last title then ends in an ellipsis.
 */
export function titleCards(text: string, times: CardTimes): TitleCard[] {
  const available = times.filmFrames / times.framesPerSecond - leadSeconds - tailSeconds;
  const capacity = Math.min(mostCharacters, Math.floor((available - noticeSeconds) * charactersPerSecond));
  const texts: string[] = [];
  let rest = text;
  let left = available;
  while (rest !== '') {
    const [next, after] = takeCard(rest, capacity);
    if (readingSeconds(next) > left) break;
    left -= readingSeconds(next);
    texts.push(next);
    rest = after;
  }
  const last = texts.pop();
  if (last === undefined) return [];
  return timed([...texts, rest === '' ? last : shortened(last)], available, times);
}

function readingSeconds(text: string): number {
  return noticeSeconds + Array.from(text).length / charactersPerSecond;
}

/** A beginning that fits and ends well: after a sentence, else after a clause, else after a word. */
function takeCard(text: string, capacity: number): [card: string, rest: string] {
  const characters = Array.from(text);
  if (characters.length <= capacity) return [text, ''];
  const room = characters.slice(0, capacity + 1).join('');
  // Between words, so much is taken that the last title will not be one word left over.
  const even = Math.ceil(characters.length / Math.ceil(characters.length / capacity)) + longestWordLeftOver;
  const end =
    lastEnd(room, /[.!?…]["”’)\]]* /gu, 0.35) ??
    lastEnd(room, /[,;:—–] /gu, 0.35) ??
    lastEnd(room.slice(0, even), / /gu, 0);
  const taken = end === undefined ? characters.slice(0, capacity).join('') : room.slice(0, end);
  return [taken.replace(/[\s,;:—–]+$/u, ''), text.slice(taken.length).trimStart()];
}

/** Where the last match ends, unless that is in the first part of the room: a title of two words would be lost time. */
function lastEnd(room: string, pattern: RegExp, leastShare: number): number | undefined {
  const ends = [...room.matchAll(pattern)].map((match) => match.index + match[0].length);
  const last = ends.at(-1);
  return last !== undefined && last > room.length * leastShare ? last : undefined;
}

function shortened(text: string): string {
  return `${text.replace(/[\p{P}\s]+$/u, '')}…`;
}

function timed(texts: readonly string[], availableSeconds: number, times: CardTimes): TitleCard[] {
  const needed = texts.reduce((sum, text) => sum + readingSeconds(text), 0);
  const stretch = Math.min(times.longestStretch, availableSeconds / needed);
  let atSeconds = leadSeconds;
  return texts.map((text) => {
    const fromFrame = Math.round(atSeconds * times.framesPerSecond);
    atSeconds += readingSeconds(text) * stretch;
    return { text, fromFrame, frames: Math.round(atSeconds * times.framesPerSecond) - fromFrame };
  });
}
