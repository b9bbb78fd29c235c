import type { FrameSize } from '../../../domain/frame-size.ts';
import { shapeLine } from './shape-line.ts';
import { textLayer, type Layer } from './text-layer.ts';
import { titleFont } from './title-font.ts';
import { textWidthPx, trackingEm, wrapTitle, type WrappedTitle } from './wrap-title.ts';

/** A picture and where its upper left corner goes. */
export type PlacedLayer = Layer & { readonly leftPx: number; readonly topPx: number };

const shadowRadiusPx = 22;
/** Three blurs of that radius reach three times as far. */
const padPx = 3 * shadowRadiusPx;

/** Large enough to be read on a telephone, small enough for a sentence. */
const sizesOnLight = [96, 88, 80, 72, 66, 60, 54, 48, 42];
const sizesOnPictures = [66, 60, 54, 48, 42, 38];

/**
 * A title at the left margin: in the middle of a film of moving light, at the foot of one that shows pictures.
 * Margins are 8 % of the width (at least 56 px) and 9 % of the height, inside the usual title-safe area.
 */
export function titleLayer(text: string, frame: FrameSize, onPictures: boolean): PlacedLayer {
  const marginPx = Math.max(56, Math.round(frame.widthPx * 0.08));
  const title = wrapTitle(titleFont('700Bold'), text, {
    widthPx: Math.min(frame.widthPx - 2 * marginPx, onPictures ? 900 : 1010),
    heightPx: frame.heightPx * (onPictures ? 0.36 : 0.62),
    sizesPx: onPictures ? sizesOnPictures : sizesOnLight,
  });
  const heightPx = title.lines.length * title.lineHeightPx;
  const footPx = frame.heightPx - Math.round(frame.heightPx * 0.09) - heightPx;
  const topPx = onPictures ? footPx : Math.round((frame.heightPx - heightPx) / 2);
  return { ...draw(title, frame.widthPx, onPictures ? 0.85 : 0.65), leftPx: marginPx - padPx, topPx: topPx - padPx };
}

/** `shadow` is stronger on pictures, which may be bright and restless. */
function draw(title: WrappedTitle, frameWidthPx: number, shadow: number): Layer {
  const font = titleFont('700Bold');
  const widestPx = Math.max(...title.lines.map((line) => textWidthPx(font, line, title.sizePx)));
  const widthPx = evenPx(Math.min(frameWidthPx, widestPx + title.sizePx * 0.1) + 2 * padPx);
  const heightPx = evenPx(title.lines.length * title.lineHeightPx + 2 * padPx);
  const firstBaselinePx = padPx + (title.lineHeightPx + (font.capHeight / font.unitsPerEm) * title.sizePx) / 2;
  const outlines = title.lines.flatMap((line, i) => {
    const baselinePx = firstBaselinePx + i * title.lineHeightPx;
    return shapeLine(font, line, { leftPx: padPx, baselinePx, sizePx: title.sizePx, trackingEm });
  });
  return textLayer(widthPx, heightPx, outlines, { strength: 1, shadow, shadowRadiusPx });
}

/** Colour is stored for blocks of two by two pixels. */
function evenPx(px: number): number {
  return 2 * Math.ceil(px / 2);
}
