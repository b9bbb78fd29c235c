import type { Font } from 'fontkit';
import { glyphOutline, type Segment } from './glyph-outline.ts';

export type LinePlace = {
  readonly leftPx: number;
  readonly baselinePx: number;
  readonly sizePx: number;
  /** Space added after each letter, in parts of the size. */
  readonly trackingEm: number;
};

/** The outlines of a line of text, kerned by the font, in pixels with y downwards. */
export function shapeLine(font: Font, text: string, place: LinePlace): Segment[] {
  const scale = place.sizePx / font.unitsPerEm;
  const { glyphs, positions } = font.layout(text);
  let penPx = place.leftPx;
  return glyphs.flatMap((glyph, i) => {
    const position = positions[i];
    const xPx = penPx + (position?.xOffset ?? 0) * scale;
    const yPx = place.baselinePx - (position?.yOffset ?? 0) * scale;
    penPx += (position?.xAdvance ?? 0) * scale + place.trackingEm * place.sizePx;
    return glyphOutline(glyph.path).map((segment) => placed(segment, xPx, yPx, scale));
  });
}

function placed([from, to]: Segment, xPx: number, yPx: number, scale: number): Segment {
  return [
    { x: xPx + from.x * scale, y: yPx - from.y * scale },
    { x: xPx + to.x * scale, y: yPx - to.y * scale },
  ];
}
