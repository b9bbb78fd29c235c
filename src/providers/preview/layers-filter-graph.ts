import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FrameSize } from '../../catalogue/media/frame-size.ts';

export const framesPerSecond = 24;

/** A picture with transparency: four bytes a pixel (red, green, blue, alpha), row by row. */
export type RgbaPicture = FrameSize & { readonly rgba: Buffer };

/** A still that moves through the film; `x` and `y` are expressions of ffmpeg, made of numbers and the frame's number `n`. */
export type Layer = RgbaPicture & { readonly x: string; readonly y: string; readonly time?: LayerTime };

/** The frames in which a layer is visible; without one it is visible in all of them. */
export type LayerTime = {
  readonly fromFrame: number;
  readonly frames: number;
  readonly fadeInFrames: number;
  readonly fadeOutFrames: number;
};

/** Writes the stills as raw pixels; returns ffmpeg's arguments that read them at the film's rate, one frame each. */
export async function writeStillsAsFfmpegInputs(folder: string, stills: readonly RgbaPicture[]): Promise<string[]> {
  const inputs = stills.map(async ({ widthPx, heightPx, rgba }, i) => {
    await writeFile(join(folder, `still-${i}.rgba`), rgba);
    const size = ['-pixel_format', 'rgba', '-video_size', `${widthPx}x${heightPx}`];
    return ['-f', 'rawvideo', ...size, '-framerate', `${framesPerSecond}`, '-i', `still-${i}.rgba`];
  });
  return (await Promise.all(inputs)).flat();
}

/** Converts the colors of a screen to those of high-definition video. */
const colors = 'scale=out_color_matrix=bt709:out_range=tv';

/**
 * The filter graph that lays the layers over the first, which is as large as the frame, and outputs `[film]`. The graph sets the film's
 * end, because `-frames:v` would also cut the sound. Color is reduced at the end: `overlay` moves pictures of reduced color by pairs of
 * pixels, which is visible as jitter.
 */
export function layersFilterGraph(layers: readonly Layer[], filmFrames: number): string {
  const chains = layers.map(({ x, y, time }, i) => {
    if (i === 0) return `[0:v]${colors},format=yuv444p,${repeated(filmFrames)}[laid0]`;
    const layer = `[${i}:v]${colors},format=yuva444p${time === undefined ? '' : timing(time)}[layer${i}]`;
    const end = time === undefined ? 'repeat' : 'pass';
    return `${layer};[laid${i - 1}][layer${i}]overlay=x='${x}':y='${y}':format=yuv444:eof_action=${end}[laid${i}]`;
  });
  return [...chains, `[laid${layers.length - 1}]format=yuv420p,setsar=1,trim=end_frame=${filmFrames}[film]`].join(';');
}

function repeated(frames: number): string {
  return `loop=loop=${frames - 1}:size=1:start=0,setpts=N`;
}

/** Repeats the one frame while the layer is visible, and fades its alpha. */
function timing({ fromFrame, frames, fadeInFrames, fadeOutFrames }: LayerTime): string {
  const fadeIn = fadeInFrames > 0 ? `,fade=t=in:s=0:n=${fadeInFrames}:alpha=1` : '';
  const fadeOut = fadeOutFrames > 0 ? `,fade=t=out:s=${frames - fadeOutFrames}:n=${fadeOutFrames}:alpha=1` : '';
  return `,${repeated(frames)}${fadeIn}${fadeOut},setpts=N+${fromFrame}`;
}
