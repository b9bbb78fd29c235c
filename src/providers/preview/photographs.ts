import { readFile } from 'node:fs/promises';
import pLimit from 'p-limit';
import sharp from 'sharp';
import type { FrameSize } from '../../domain/frame-size.ts';
import type { ReferenceImage } from '../../domain/ports.ts';
import type { Layer, Still, Stretch } from './layers.ts';

/** Half a second, or a third of a shot where shots are short. */
const longestFadeFrames = 12;

/** The fastest that a camera passes over a picture, in pixels a frame; people stand upright, so it tilts slowly. */
const fastestPx = { widthPx: 3, heightPx: 2 };

/** Which part of a picture is shown in the middle of the movement: faces are rather high up. */
const middle = { widthPx: 0.5, heightPx: 0.3 };

/** The reference images one after the other, each fading in over the one before while the camera passes over it. */
export async function photographs(
  images: readonly ReferenceImage[],
  { frame, filmFrames }: { readonly frame: FrameSize; readonly filmFrames: number },
): Promise<readonly Layer[]> {
  // Two at a time: a large image takes a hundred megabytes while it is decoded.
  const twoAtATime = pLimit(2);
  const shots = images.map((image, i) =>
    twoAtATime(() => shotOf(image, frame, shotTime(i, images.length, filmFrames), i % 2 === 0)),
  );
  const ground = { ...frame, rgba: Buffer.alloc(4 * frame.widthPx * frame.heightPx, 0xff), x: '0', y: '0' };
  return [ground, ...(await Promise.all(shots))];
}

/** The film is divided evenly between 1 to 9 shots; every one lasts until the next has covered it. */
export function shotTime(shot: number, shots: number, filmFrames: number): Stretch {
  const fadeFrames = Math.min(longestFadeFrames, Math.floor(filmFrames / shots / 3));
  const startOf = (one: number) => Math.round((one * filmFrames) / shots);
  const end = startOf(shot + 1) + (shot === shots - 1 ? 0 : fadeFrames);
  const fadeInFrames = shot === 0 ? 0 : fadeFrames;
  return { fromFrame: startOf(shot), frames: end - startOf(shot), fadeInFrames, fadeOutFrames: 0 };
}

/**
 * A picture that fills the frame, nothing stretched, moving along its longer side by whole pixels a frame: the larger the part
 * that the frame does not show, the faster.
 */
async function shotOf(image: ReferenceImage, frame: FrameSize, time: Stretch, isForwards: boolean): Promise<Layer> {
  const shape = image.widthPx / image.heightPx / (frame.widthPx / frame.heightPx);
  const isWide = Math.abs(Math.log(shape)) < 0.1 ? frame.widthPx >= frame.heightPx : shape > 1;
  const along = isWide ? 'widthPx' : 'heightPx';
  const filling = Math.max(frame.widthPx / image.widthPx, frame.heightPx / image.heightPx);
  const sparePx = image[along] * filling - frame[along];
  const pxPerFrame = Math.max(1, Math.min(fastestPx[along], Math.floor((0.75 * sparePx) / time.frames)));
  const strip = { ...frame, [along]: frame[along] + pxPerFrame * time.frames };
  const still = await cut(image, strip, Math.max(filling, strip[along] / image[along]));
  const passed = `${pxPerFrame}*(n-${time.fromFrame})`;
  const place = isForwards && isWide ? `-${passed}` : `${passed}-${pxPerFrame * time.frames}`;
  return { ...still, x: isWide ? place : '0', y: isWide ? '0' : place, time };
}

/** From bytes, never by path: src/media closes sharp's readers of files for the whole process. */
async function cut(image: ReferenceImage, strip: FrameSize, scale: number): Promise<Still> {
  const size = (side: keyof FrameSize) => Math.max(strip[side], Math.round(image[side] * scale));
  const start = (side: keyof FrameSize) => {
    const spare = size(side) - strip[side];
    return Math.round(Math.max(0, Math.min(spare, middle[side] * size(side) - strip[side] / 2)));
  };
  const rgba = await sharp(await readFile(image.path))
    .resize(size('widthPx'), size('heightPx'), { fit: 'fill' })
    .extract({ left: start('widthPx'), top: start('heightPx'), width: strip.widthPx, height: strip.heightPx })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer();
  return { ...strip, rgba };
}
