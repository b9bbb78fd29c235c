import { createRequire } from 'node:module';
import sharp, { type CreateText, type Sharp } from 'sharp';
import type { FrameSize } from '../../../domain/frame-size.ts';
import type { Still } from '../layers.ts';

export type Lettering = {
  readonly weight: 'Bold' | 'Medium';
  /** Between letters, in parts of the size. */
  readonly trackingEm?: number;
  readonly align?: 'left' | 'right';
};

const packages = createRequire(import.meta.url);
const fontFiles = { Bold: '700Bold/Inter_700Bold.ttf', Medium: '500Medium/Inter_500Medium.ttf' };

/**
 * A text in white, no larger than its ink, broken into lines of the width where one is given. The font is Inter, which npm
 * ships under the Open Font License; characters that it lacks come from the fonts of the machine, as boxes where none has them.
 * A text without ink is drawn as nothing.
 */
export async function drawnText(text: string, lettering: Lettering, sizePx: number, width?: number): Promise<Still> {
  const { weight, trackingEm = 0, align = 'left' } = lettering;
  const spacing = Math.round(1024 * trackingEm * sizePx);
  const options: CreateText = {
    text: `<span foreground="white" letter_spacing="${spacing}">${escaped(text)}</span>`,
    font: `Inter ${weight} ${sizePx}`,
    fontfile: packages.resolve(`@expo-google-fonts/inter/${fontFiles[weight]}`),
    dpi: 72,
    rgba: true,
    align,
    wrap: 'word-char',
    ...(width !== undefined && { width }),
  };
  return stillOf(sharp({ text: options })).catch((error: unknown) => {
    if (!(error instanceof Error && error.message.includes('no text to render'))) throw error;
    return { widthPx: 1, heightPx: 1, rgba: Buffer.alloc(4) };
  });
}

/** Pango reads markup, and a text is none. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** In the largest of the sizes in which it fits the box, its lines of similar length; made smaller where none fits. */
export async function fittedText(
  text: string,
  lettering: Lettering,
  sizesPx: readonly number[],
  box: FrameSize,
): Promise<Still> {
  let best: Still | undefined;
  for (const sizePx of sizesPx) {
    best = await drawnText(text, lettering, sizePx, box.widthPx);
    if (best.heightPx > box.heightPx || best.widthPx > box.widthPx) continue;
    for (let width = 0.96 * best.widthPx; width > 0.5 * box.widthPx; width *= 0.94) {
      const narrower = await drawnText(text, lettering, sizePx, Math.round(width));
      if (narrower.heightPx > best.heightPx + sizePx / 2) break;
      best = narrower;
    }
    return best;
  }
  if (best === undefined) throw new Error('no size to draw a text in');
  const raw = { width: best.widthPx, height: best.heightPx, channels: 4 as const };
  return stillOf(sharp(best.rgba, { raw }).resize(box.widthPx, box.heightPx, { fit: 'inside' }));
}

async function stillOf(picture: Sharp): Promise<Still> {
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true });
  return { widthPx: info.width, heightPx: info.height, rgba: data };
}
