import type { Ratio } from '../tasks/task-input.ts';

export type FrameSize = { readonly widthPx: number; readonly heightPx: number };

type FixedRatio = Exclude<Ratio, 'adaptive'>;

/** Pixel sizes at 720p. */
export const frameSizes: Record<FixedRatio, FrameSize> = {
  '16:9': { widthPx: 1280, heightPx: 720 },
  '9:16': { widthPx: 720, heightPx: 1280 },
  '1:1': { widthPx: 960, heightPx: 960 },
  '4:3': { widthPx: 1112, heightPx: 834 },
  '3:4': { widthPx: 834, heightPx: 1112 },
  '21:9': { widthPx: 1470, heightPx: 630 },
  '9:21': { widthPx: 630, heightPx: 1470 },
  '3:2': { widthPx: 1176, heightPx: 784 },
  '2:3': { widthPx: 784, heightPx: 1176 },
  '5:4': { widthPx: 1080, heightPx: 864 },
  '4:5': { widthPx: 864, heightPx: 1080 },
};

/** The size of the video: `adaptive` takes the ratio nearest to the first reference image, 16:9 without one. */
export function frameSize(ratio: Ratio, firstImage: FrameSize | undefined): FrameSize {
  if (ratio !== 'adaptive') return frameSizes[ratio];
  if (firstImage === undefined) return frameSizes['16:9'];
  return nearestSize(firstImage);
}

/** Sides of video models are multiples of this. */
const sideStep = 32;

/**
 * The size for a model whose 16:9 is not 1280 × 720: the given one for 16:9, that turned over for 9:16, and about its area for
 * every other ratio.
 */
export function sizeOf(
  ratio: Ratio,
  firstImage: FrameSize | undefined,
  { width, height }: { readonly width?: number | undefined; readonly height?: number | undefined },
): FrameSize {
  const size = frameSize(ratio, firstImage);
  if (width === undefined || height === undefined) return size;
  if (size === frameSizes['16:9']) return { widthPx: width, heightPx: height };
  if (size === frameSizes['9:16']) return { widthPx: height, heightPx: width };
  const side = (pixels: number) => Math.round(pixels / sideStep) * sideStep;
  const shape = size.widthPx / size.heightPx;
  return { widthPx: side(Math.sqrt(width * height * shape)), heightPx: side(Math.sqrt((width * height) / shape)) };
}

/** Nearest by the logarithm of width over height, so that twice as wide and twice as tall are equally far from it. */
function nearestSize(image: FrameSize): FrameSize {
  const logRatio = (size: FrameSize) => Math.log(size.widthPx / size.heightPx);
  const distance = (size: FrameSize) => Math.abs(logRatio(size) - logRatio(image));
  return Object.values(frameSizes).reduce((best, size) => (distance(size) < distance(best) ? size : best));
}
