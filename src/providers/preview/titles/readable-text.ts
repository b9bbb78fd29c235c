import { drawnText } from './drawn-text.ts';

/** What a title can say of a text, and whether it leaves out what no font of this machine has. */
export type ReadableText = { readonly text: string; readonly isWhole: boolean };

/** More is never shown, so more is never looked at. */
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
  const { missing, blank } = await unfit(new Set(graphemes.join('')));
  const isLost = (grapheme: string) => Array.from(grapheme).some((character) => missing.has(character));
  const shown = graphemes.map((one) => {
    if (isLost(one)) return /[\p{L}\p{M}\p{N}]/u.test(one) ? '\0' : '';
    return Array.from(one, (character) => (blank.has(character) ? blankAs(character) : character)).join('');
  });
  const rest = graphemes.join('').length < plain.length ? '…' : '';
  const marked = `${shown.join('')}${rest}`
    .replace(/\0[\0\s\p{P}]*/gu, ' […] ')
    .replace(/\s+/gu, ' ')
    .trim();
  const says = /[\p{L}\p{N}\p{S}]/u.test(marked) && 2 * graphemes.filter(isLost).length < graphemes.length;
  return { text: says ? marked : '', isWhole: missing.size === 0 };
}

/** A mark belongs to the character before it; anything else takes room. */
function blankAs(character: string): string {
  return /\p{M}/u.test(character) ? '' : ' ';
}

type Unfit = { readonly missing: ReadonlySet<string>; readonly blank: ReadonlySet<string> };

/**
 * Those that no font has, and those without ink. Pango draws a box for the former, which has one size for all with four
 * hexadecimal digits and another for all with more, and ink along its whole border.
 */
async function unfit(characters: ReadonlySet<string>): Promise<Unfit> {
  const boxes = [await outline('\u{378}'), await outline('\u{3fffd}')];
  const [missing, blank] = [new Set<string>(), new Set<string>()];
  for (const character of characters) {
    if (/[\p{ASCII}\p{Script=Latin}\p{Join_Control}\p{Variation_Selector}]/u.test(character)) continue;
    const drawn = await outline(character);
    if (drawn === undefined) blank.add(character);
    else if (boxes.includes(drawn)) missing.add(character);
  }
  return { missing, blank };
}

/** Width of a drawn character and the ink of its border, as something to be compared; undefined when it has no ink. */
async function outline(character: string): Promise<string | undefined> {
  const still = await drawnText(character, { weight: 'Bold' }, 24).catch((error: unknown) => {
    // What libvips says of a text that takes no room.
    if (error instanceof Error && error.message.includes('no text to render')) return undefined;
    throw error;
  });
  if (still?.rgba.some((byte) => byte > 0) !== true) return undefined;
  const { widthPx, heightPx, rgba } = still;
  const border = Array.from({ length: widthPx * heightPx }, (_, i) => {
    const [x, y] = [i % widthPx, Math.floor(i / widthPx)];
    const isInside = x > 0 && y > 0 && x < widthPx - 1 && y < heightPx - 1;
    return isInside || (rgba[4 * i + 3] ?? 0) > 99 ? 'x' : '.';
  });
  return `${widthPx} ${border.join('')}`;
}
