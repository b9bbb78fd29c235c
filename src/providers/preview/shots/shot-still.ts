import { readFile } from 'node:fs/promises';
import sharp, { type OverlayOptions, type Sharp } from 'sharp';
import type { FrameSize } from '../../../domain/frame-size.ts';
import { TaskFault } from '../../../domain/task-fault.ts';
import type { ReferenceImage } from '../../provider.ts';

/** A picture whose shape differs more than this from the film's is shown whole on a blurred ground, not cut to fit. */
const mostCropped = 1.4;

/** Room around a picture that is shown whole, so that the slow zoom never cuts it. */
const wholeShare = 0.82;

const shadowPx = 18;

/**
 * One reference image as the still that a shot moves over, `rgb24`, filling the given size; nothing is stretched. A
 * picture of about the film's shape fills it, cut around what draws the eye; another one is shown whole.
 */
export async function shotStill(image: ReferenceImage, size: FrameSize): Promise<Buffer> {
  const shape = (image.widthPx / image.heightPx) * (size.heightPx / size.widthPx);
  try {
    const file = await readFile(image.path);
    return Math.max(shape, 1 / shape) <= mostCropped ? await filling(file, size) : await whole(file, size);
  } catch (cause) {
    throw new TaskFault('image_invalid', 'A reference image cannot be read.', { cause });
  }
}

async function filling(file: Buffer, { widthPx, heightPx }: FrameSize): Promise<Buffer> {
  const cut = opaque(file).resize(widthPx, heightPx, { fit: 'cover', position: sharp.strategy.attention });
  return cut.raw().toBuffer();
}

async function whole(file: Buffer, size: FrameSize): Promise<Buffer> {
  const ground = await blurredGround(file, size);
  const picture = opaque(file).resize(Math.round(size.widthPx * wholeShare), Math.round(size.heightPx * wholeShare), {
    fit: 'inside',
  });
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true });
  const shadow = await shadowOf(info.width, info.height);
  const raw = { width: info.width, height: info.height, channels: info.channels };
  return ground
    .composite([shadow, { input: data, raw }])
    .removeAlpha()
    .raw()
    .toBuffer();
}

/** The picture itself, small and blurred, then enlarged: cheap, and soft without end. */
async function blurredGround(file: Buffer, { widthPx, heightPx }: FrameSize): Promise<Sharp> {
  const small = opaque(file)
    .resize(Math.round(widthPx / 10), Math.round(heightPx / 10), { fit: 'cover' })
    .blur(7);
  const { data, info } = await small.modulate({ brightness: 0.55 }).raw().toBuffer({ resolveWithObject: true });
  const raw = { width: info.width, height: info.height, channels: info.channels };
  const large = await sharp(data, { raw }).resize(widthPx, heightPx, { fit: 'fill', kernel: 'cubic' }).raw().toBuffer();
  return sharp(large, { raw: { width: widthPx, height: heightPx, channels: info.channels } });
}

async function shadowOf(widthPx: number, heightPx: number): Promise<OverlayOptions> {
  const black = {
    width: widthPx,
    height: heightPx,
    channels: 4 as const,
    background: { r: 0, g: 0, b: 0, alpha: 0.6 },
  };
  const border = { top: 2 * shadowPx, bottom: 2 * shadowPx, left: 2 * shadowPx, right: 2 * shadowPx };
  const extended = sharp({ create: black }).extend({ ...border, background: { r: 0, g: 0, b: 0, alpha: 0 } });
  const flat = await extended.raw().toBuffer();
  const size = { width: widthPx + 4 * shadowPx, height: heightPx + 4 * shadowPx, channels: 4 as const };
  const data = await sharp(flat, { raw: size }).blur(shadowPx).raw().toBuffer();
  return { input: data, raw: size };
}

/**
 * Colours as a screen shows them, three channels, no transparency. From bytes, never by path: the media room closes
 * sharp's readers of files for the whole process.
 */
function opaque(file: Buffer): Sharp {
  return sharp(file).flatten({ background: '#101014' }).toColourspace('srgb');
}
