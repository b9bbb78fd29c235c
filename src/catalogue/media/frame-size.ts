import type { Ratio, Resolution } from '../input/resolutions-ratios-and-field-bounds.ts';

export type FrameSize = { readonly widthPx: number; readonly heightPx: number };

type FixedRatio = Exclude<Ratio, 'adaptive'>;

/**
 * Pixel sizes at 720p, from which those of every other resolution are scaled.
 * The first six are those of Seedance 2.0; the others have about the same area.
 */
export const frameSizesAt720p: Record<FixedRatio, FrameSize> = {
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

/** The short side of 16:9. The other ratios of a resolution have about the same area. */
function linesOf(resolution: Resolution): number {
  return Number.parseInt(resolution, 10);
}

/** The size of the video: `adaptive` takes the ratio nearest to the first reference image, 16:9 without one. Sides are even. */
export function frameSize(resolution: Resolution, ratio: Ratio, firstImage: FrameSize | undefined): FrameSize {
  const size = frameSizesAt720p[fixedRatio(ratio, firstImage)];
  const scale = linesOf(resolution) / 720;
  return { widthPx: nearestSide(size.widthPx * scale, 2), heightPx: nearestSide(size.heightPx * scale, 2) };
}

/** Sizes of video models differ from ours by their steps and roundings, but the next lower resolution has fewer pixels. */
const leastShare = 0.9;

/** True if a video of this size is not one of the resolution: both its short side and its area are clearly smaller. */
export function isClearlyBelowResolution(resolution: Resolution, { widthPx, heightPx }: FrameSize): boolean {
  const lines = linesOf(resolution);
  const area = (lines * lines * 16) / 9;
  return Math.min(widthPx, heightPx) < leastShare * lines && widthPx * heightPx < leastShare * area;
}

/** True if a video of this size is one of a higher resolution: both its short side and its area are clearly larger. */
export function isClearlyAboveResolution(resolution: Resolution, { widthPx, heightPx }: FrameSize): boolean {
  const lines = linesOf(resolution);
  const area = (lines * lines * 16) / 9;
  return Math.min(widthPx, heightPx) * leastShare > lines && widthPx * heightPx * leastShare > area;
}

/** More of a frame than this share would be cut off in the shape of the other one; that of 16:9 and 4:3 is 25 %. */
export const maxFrameShapeDifference = 0.3;

/** Returns why a last frame cannot end a video that begins with the first one; undefined if it can. */
export function lastFrameRefusal(first: FrameSize, last: FrameSize): string | undefined {
  const [one, other] = [first, last].map(({ widthPx, heightPx }) => widthPx / heightPx) as [number, number]; // of two
  if (Math.min(one, other) >= (1 - maxFrameShapeDifference) * Math.max(one, other)) return undefined;
  return `is ${last.widthPx}×${last.heightPx} px and the first frame is ${first.widthPx}×${first.heightPx} px; crop both to the same shape`;
}

/** Sides of video models are multiples of this. */
const sideStep = 32;

/** A model's own size for 16:9, at the resolution, which is 720p by default. */
type OwnSize = {
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly resolution?: Resolution | undefined;
};

/**
 * The size for a model whose 16:9 is not 1280 × 720: the given one for 16:9, rotated for 9:16, about the same area for every other ratio,
 * and scaled for every other resolution.
 */
export function frameSizeForUpstream(
  { resolution, ratio }: { readonly resolution: Resolution; readonly ratio: Ratio },
  firstImage: FrameSize | undefined,
  { width, height, resolution: own = '720p' }: OwnSize,
): FrameSize {
  if (width === undefined || height === undefined) return frameSize(resolution, ratio, firstImage);
  const fixed = fixedRatio(ratio, firstImage);
  if (resolution === own && fixed === '16:9') return { widthPx: width, heightPx: height };
  if (resolution === own && fixed === '9:16') return { widthPx: height, heightPx: width };
  const shape = shapeOf(fixed, width / height);
  const area = width * height * (linesOf(resolution) / linesOf(own)) ** 2;
  return {
    widthPx: nearestSide(Math.sqrt(area * shape), sideStep),
    heightPx: nearestSide(Math.sqrt(area / shape), sideStep),
  };
}

/** Width over height; 16:9 is as wide as the model's own. */
function shapeOf(ratio: FixedRatio, wide: number): number {
  if (ratio === '16:9') return wide;
  if (ratio === '9:16') return 1 / wide;
  const { widthPx, heightPx } = frameSizesAt720p[ratio];
  return widthPx / heightPx;
}

function nearestSide(pixels: number, step: number): number {
  return Math.round(pixels / step) * step;
}

/** The ratios among which `adaptive` selects, whichever of them a model sells. */
const adaptiveRatios = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'] as const satisfies readonly FixedRatio[];

/** Nearest by the logarithm of width over height, so that twice as wide and twice as tall are equally far from it. */
function fixedRatio(ratio: Ratio, firstImage: FrameSize | undefined): FixedRatio {
  if (ratio !== 'adaptive') return ratio;
  if (firstImage === undefined) return '16:9';
  const logRatio = (size: FrameSize) => Math.log(size.widthPx / size.heightPx);
  const distance = (one: FixedRatio) => Math.abs(logRatio(frameSizesAt720p[one]) - logRatio(firstImage));
  return adaptiveRatios.reduce<FixedRatio>((best, one) => (distance(one) < distance(best) ? one : best), '16:9');
}
