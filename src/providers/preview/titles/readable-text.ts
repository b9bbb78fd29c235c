import { drawnText } from './drawn-text.ts';

/** What a title can say of a text, and whether it leaves out what no font of this machine has. */
export type ReadableText = { readonly text: string; readonly isWhole: boolean };

/** More is never drawn, so more is never read. */
const mostCharacters = 600;

/** Steers text without being seen: control codes, direction marks, what stands for no character. Joiners stay. */
const unseen = /(?!\p{Join_Control})[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu;

/**
 * The text on one line, of characters that can be drawn. Words that cannot are an ellipsis in brackets, pictures are left out.
 * Empty when nothing is left that says something, or less than half: a few words of another language make no title.
 */
export async function readableText(text: string): Promise<ReadableText> {
  const plain = text.normalize('NFC').replace(/\s+/gu, ' ').replace(unseen, '').trim();
  const graphemes = [...new Intl.Segmenter().segment(plain)].map(({ segment }) => segment).slice(0, mostCharacters);
  const missing = await missingOf(new Set(graphemes.join('')));
  const isLost = (grapheme: string) => Array.from(grapheme).some((character) => missing.has(character));
  const shown = graphemes.map((one) => {
    if (!isLost(one)) return one;
    return /[\p{L}\p{M}\p{N}]/u.test(one) ? '\0' : '';
  });
  const rest = graphemes.join('').length < plain.length ? '…' : '';
  const marked = `${shown.join('')}${rest}`
    .replace(/\0[\0\s\p{P}]*/gu, ' […] ')
    .replace(/\s+/gu, ' ')
    .trim();
  const says = /[\p{L}\p{N}\p{S}]/u.test(marked) && 2 * graphemes.filter(isLost).length < graphemes.length;
  return { text: says ? marked : '', isWhole: missing.size === 0 };
}

/**
 * The characters that no font has. Pango draws a box for them, which has one size for all with four hexadecimal digits and
 * another for all with more, and ink along its whole border.
 */
async function missingOf(characters: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const boxes = [await outline('\u{378}'), await outline('\u{3fffd}')];
  const missing = new Set<string>();
  for (const character of characters) {
    if (/[\p{ASCII}\p{Script=Latin}\p{Join_Control}\p{Variation_Selector}]/u.test(character)) continue;
    if (boxes.includes(await outline(character))) missing.add(character);
  }
  return missing;
}

/** Width of a drawn character and the ink of its border, as something to be compared. */
async function outline(character: string): Promise<string> {
  const { widthPx, heightPx, rgba } = await drawnText(character, { weight: 'Bold' }, 24);
  const border = Array.from({ length: widthPx * heightPx }, (_, i) => {
    const [x, y] = [i % widthPx, Math.floor(i / widthPx)];
    const isInside = x > 0 && y > 0 && x < widthPx - 1 && y < heightPx - 1;
    return isInside || (rgba[4 * i + 3] ?? 0) > 99 ? 'x' : '.';
  });
  return `${widthPx} ${border.join('')}`;
}
