import type { Font } from 'fontkit';

/** Characters that steer text without being seen: direction marks, joiners, variation selectors, control codes. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}]/gu;

/**
 * What of a text the font can draw, white space reduced to single spaces. A word that loses all of its letters and
 * digits goes with its punctuation. Empty when nothing is left that says something.
 */
export function drawableText(font: Font, text: string): string {
  const spaced = text.normalize('NFC').replace(/\s+/gu, ' ').replace(unseen, '');
  const words = spaced.split(' ').map((word) => drawableWord(font, word));
  const kept = words.filter((word) => word !== '').join(' ');
  return /[\p{L}\p{N}]/u.test(kept) ? kept : '';
}

function drawableWord(font: Font, word: string): string {
  const kept = Array.from(word)
    .filter((character) => font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0))
    .join('');
  if (kept === word) return word;
  return /[\p{L}\p{N}]/u.test(kept) ? kept : '';
}
