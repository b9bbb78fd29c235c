import { createRequire } from 'node:module';
import sharp, { type Sharp } from 'sharp';
import type { FrameSize } from '../../../catalogue/media/frame-size.ts';
import type { RgbaPicture } from '../layers-filter-graph.ts';

type Lettering = {
  readonly weight: 'Bold' | 'Medium';
  /** Between letters, in parts of the size. */
  readonly trackingEm?: number;
};

const packages = createRequire(import.meta.url);
const fontFiles = { Bold: '700Bold/Inter_700Bold.ttf', Medium: '500Medium/Inter_500Medium.ttf' };

/**
 * Draws a text in white, no larger than its ink, broken into lines of the width where one is given. The font is Inter, which npm
 * ships under the Open Font License.
 */
export async function drawText(
  text: string,
  { weight, trackingEm = 0 }: Lettering,
  sizePx: number,
  width?: number,
): Promise<RgbaPicture> {
  const spacing = Math.round(1024 * trackingEm * sizePx);
  return await stillOf(
    sharp({
      text: {
        text: `<span foreground="white" letter_spacing="${spacing}">${escaped(text)}</span>`,
        font: `Inter ${weight} ${sizePx}`,
        fontfile: packages.resolve(`@expo-google-fonts/inter/${fontFiles[weight]}`),
        dpi: 72,
        rgba: true,
        wrap: 'word-char',
        ...(width !== undefined && { width }),
      },
    }),
  );
}

/** Draws a text in the largest of the sizes in which it fits the box; scales it down where none fits. */
export async function drawFittedText(
  text: string,
  lettering: Lettering,
  sizesPx: readonly number[],
  box: FrameSize,
): Promise<RgbaPicture> {
  let still: RgbaPicture | undefined;
  for (const sizePx of sizesPx) {
    still = await drawText(text, lettering, sizePx, box.widthPx);
    if (still.heightPx <= box.heightPx && still.widthPx <= box.widthPx) return still;
  }
  if (still === undefined) throw new Error('no size to draw a text in');
  const raw = { width: still.widthPx, height: still.heightPx, channels: 4 as const };
  return await stillOf(sharp(still.rgba, { raw }).resize(box.widthPx, box.heightPx, { fit: 'inside' }));
}

/** Pango would read the text as markup. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

async function stillOf(picture: Sharp): Promise<RgbaPicture> {
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true });
  return { widthPx: info.width, heightPx: info.height, rgba: data };
}
