import { framesPerSecond } from '../layers.ts';

/** One title: what it says, and when, in frames of the film. */
export type TitleCard = { readonly text: string; readonly fromFrame: number; readonly frames: number };

/** What can be read in so many seconds, and a lower third has room for. */
const mostCharacters = 130;
const leastSeconds = 4;

/** The picture alone, before the first title and after the last one. */
const leadFrames = Math.round(0.3 * framesPerSecond);

/**
 * Splits a text into titles that share the film evenly, breaking at the end of a sentence or clause where one is near. What
 * does not fit is left out, and the last title then ends in an ellipsis.
 */
export function titleCards(text: string, filmFrames: number): TitleCard[] {
  const most = Math.max(1, Math.floor(filmFrames / framesPerSecond / leastSeconds));
  const texts: string[] = [];
  let rest = text;
  while (rest !== '' && texts.length < most) {
    const [next, after] = takeCard(rest);
    texts.push(after !== '' && texts.length === most - 1 ? `${next.replace(/[\p{P}\s]+$/u, '')}…` : next);
    rest = after;
  }
  const frames = Math.floor((filmFrames - 2 * leadFrames) / Math.max(1, texts.length));
  return texts.map((words, i) => ({ text: words, fromFrame: leadFrames + i * frames, frames }));
}

/** A beginning that fits and ends well: after a sentence, else after a clause, else after a word. */
function takeCard(text: string): [card: string, rest: string] {
  const characters = Array.from(text);
  if (characters.length <= mostCharacters) return [text, ''];
  const room = characters.slice(0, mostCharacters + 1).join('');
  // Half of it at least: a title of two words would be lost time.
  const ends = [/[.!?…]["”’)\]]* /gu, /[,;:—–] /gu, / /gu].map((pattern) => {
    const last = [...room.matchAll(pattern)].at(-1);
    return last === undefined ? 0 : last.index + last[0].length;
  });
  const end = ends.find((one) => one > room.length / 2) ?? characters.slice(0, mostCharacters).join('').length;
  const card = room.slice(0, end);
  return [card.replace(/[\s,;:—–]+$/u, '') || card, text.slice(end).trimStart()];
}
