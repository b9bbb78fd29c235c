import type { Font } from 'fontkit';

export type TitleBox = { readonly widthPx: number; readonly heightPx: number; readonly sizesPx: readonly number[] };
export type WrappedTitle = {
  readonly lines: readonly string[];
  readonly sizePx: number;
  readonly lineHeightPx: number;
};

/** Tight, as large type wants it. */
const lineHeight = 1.14;

/** Large letters stand a little closer; in parts of the size. */
export const trackingEm = -0.018;

export function textWidthPx(font: Font, text: string, sizePx: number): number {
  const { glyphs, advanceWidth } = font.layout(text);
  return (advanceWidth / font.unitsPerEm + glyphs.length * trackingEm) * sizePx;
}

/** The title in the largest of the sizes in which it fits the box, else in the smallest; lines of similar length. */
export function wrapTitle(font: Font, text: string, box: TitleBox): WrappedTitle {
  const measure = createMeasure(font);
  const [smallestPx = 1, ...largerPx] = box.sizesPx.toSorted((a, b) => a - b);
  for (const sizePx of largerPx.toReversed()) {
    const title = wrapAt(measure, text, box.widthPx, sizePx);
    if (title.whole && title.lines.length * title.lineHeightPx <= box.heightPx)
      return balanced(measure, text, box.widthPx, title);
  }
  return balanced(measure, text, box.widthPx, wrapAt(measure, text, box.widthPx, smallestPx));
}

/** Width of a word for a size of 1. Shaping is slow and the same words are tried in many ways, so each is done once. */
type Measure = (word: string) => number;

function createMeasure(font: Font): Measure {
  const known = new Map<string, number>();
  return (word) => {
    const width = known.get(word) ?? textWidthPx(font, word, 1);
    known.set(word, width);
    return width;
  };
}

type Attempt = WrappedTitle & { readonly whole: boolean };

/** `whole` tells that no word had to be broken: rather a smaller size than a broken word. */
function wrapAt(measure: Measure, text: string, widthPx: number, sizePx: number): Attempt {
  const fitting = widthPx / sizePx;
  const words = text.split(' ');
  const whole = words.every((word) => measure(word) <= fitting);
  const pieces = whole ? words : words.flatMap((word) => broken(measure, word, fitting));
  const lines = filledLines(measure, pieces, fitting);
  return { lines, sizePx, lineHeightPx: Math.round(sizePx * lineHeight), whole };
}

function filledLines(measure: Measure, words: readonly string[], fitting: number): string[] {
  const lines: string[] = [];
  let used = 0;
  for (const word of words) {
    const last = lines.at(-1);
    used += measure(' ') + measure(word);
    if (last !== undefined && used <= fitting) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else {
      lines.push(word);
      used = measure(word);
    }
  }
  return lines;
}

/** Pieces of a word, each as long as the line allows. */
function broken(measure: Measure, word: string, fitting: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const character of word) {
    if (piece !== '' && measure(piece + character) > fitting) {
      pieces.push(piece);
      piece = '';
    }
    piece += character;
  }
  return [...pieces, piece];
}

/** Narrows the lines as far as their number allows, so that no single word is left over on the last one. */
function balanced(measure: Measure, text: string, widthPx: number, title: Attempt): WrappedTitle {
  let best = title;
  if (!title.whole) return best;
  for (let narrower = widthPx * 0.97; narrower > widthPx * 0.3; narrower *= 0.97) {
    const candidate = wrapAt(measure, text, narrower, title.sizePx);
    if (candidate.lines.length > title.lines.length || !candidate.whole) break;
    best = candidate;
  }
  return best;
}
