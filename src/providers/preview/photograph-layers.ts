import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { FrameSize } from '../../catalogue/media/frame-size.ts';
import type { PreparedReferenceImage } from '../../catalogue/media/media-by-role.ts';
import type { Layer, LayerTime } from './layers-filter-graph.ts';

/** Half a second, or a third of a shot where shots are short. */
const longestFadeFrames = 12;

/** Shows the reference images one after the other; each fades in over the one before while the camera passes over it. */
export async function photographLayers(
  images: readonly PreparedReferenceImage[],
  { frame, filmFrames }: { readonly frame: FrameSize; readonly filmFrames: number },
): Promise<readonly Layer[]> {
  const background = Buffer.alloc(4 * frame.widthPx * frame.heightPx, 0xff);
  const layers: Layer[] = [{ ...frame, rgba: background, x: '0', y: '0' }];
  // One at a time: a large image takes a hundred megabytes while it is decoded.
  for (const [i, image] of images.entries()) {
    layers.push(await shotOf(image, frame, layerTimeOfShot(i, images.length, filmFrames)));
  }
  return layers;
}

/** Divides the film evenly between its shots; each lasts until the next has covered it. */
export function layerTimeOfShot(shot: number, shots: number, filmFrames: number): LayerTime {
  const fadeFrames = Math.min(longestFadeFrames, Math.floor(filmFrames / shots / 3));
  const startOf = (one: number) => Math.round((one * filmFrames) / shots);
  const end = startOf(shot + 1) + (shot === shots - 1 ? 0 : fadeFrames);
  const fadeInFrames = shot === 0 ? 0 : fadeFrames;
  return { fromFrame: startOf(shot), frames: end - startOf(shot), fadeInFrames, fadeOutFrames: 0 };
}

/**
 * A picture that fills the frame without being stretched and moves by a whole pixel a frame along its longer side. A tall one is
 * shown from its top, where faces are.
 */
async function shotOf(image: PreparedReferenceImage, frame: FrameSize, time: LayerTime): Promise<Layer> {
  const isWide = image.widthPx * frame.heightPx > image.heightPx * frame.widthPx;
  const strip = isWide
    ? { ...frame, widthPx: frame.widthPx + time.frames }
    : { ...frame, heightPx: frame.heightPx + time.frames };
  // From bytes, never by path: src/media disables sharp's readers of files for the whole process.
  const rgba = await sharp(await readFile(image.path))
    .resize(strip.widthPx, strip.heightPx, { fit: 'cover', position: isWide ? 'centre' : 'top' })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer();
  const position = `n-${time.fromFrame}-${time.frames}`;
  return { ...strip, rgba, x: isWide ? position : '0', y: isWide ? '0' : position, time };
}
