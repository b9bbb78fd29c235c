import type { FrameSize } from '../../../domain/frame-size.ts';
import { shapeLine } from './shape-line.ts';
import { textLayer } from './text-layer.ts';
import type { PlacedLayer } from './title-layer.ts';
import { titleFont } from './title-font.ts';

const sizePx = 17;
const trackingEm = 0.2;
const padPx = 24;

/** The word in the upper right corner that says what this film is: no work of an AI model. */
export function previewMark(frame: FrameSize): PlacedLayer {
  const font = titleFont('600SemiBold');
  const { advanceWidth, glyphs } = font.layout('PREVIEW');
  const textPx = (advanceWidth / font.unitsPerEm + trackingEm * glyphs.length) * sizePx;
  const widthPx = 2 * Math.ceil((textPx + 2 * padPx) / 2);
  const heightPx = 2 * Math.ceil((sizePx + 2 * padPx) / 2);
  const outlines = shapeLine(font, 'PREVIEW', { leftPx: padPx, baselinePx: padPx + sizePx, sizePx, trackingEm });
  const marginPx = Math.round(Math.min(frame.widthPx, frame.heightPx) * 0.055);
  const layer = textLayer(widthPx, heightPx, outlines, { strength: 0.85, shadow: 0.7, shadowRadiusPx: 8 });
  return { ...layer, leftPx: frame.widthPx - marginPx - widthPx + padPx, topPx: marginPx - padPx };
}
