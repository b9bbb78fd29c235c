import { type FrameSize, frameSize } from '../media/frame-size.ts';
import { type Ratio, type Resolution } from '../tasks/input-bounds.ts';
import type { ModelInput } from '../tasks/task-input.ts';

type Frame = { readonly resolution: Resolution; readonly ratio: Ratio };

/** Every size that a model sells, as `1280x720`, and what it means in our fields. */
export function sizesOf({ fields }: ModelInput): ReadonlyMap<string, Frame> {
  const resolutions = fields.resolution?.values ?? ['720p'];
  const ratios = (fields.ratio?.values ?? ['16:9']).filter((ratio) => ratio !== 'adaptive');
  const frames = resolutions.flatMap((resolution) => ratios.map((ratio) => ({ resolution, ratio })));
  return new Map(frames.map((frame) => [sizeText(frameSize(frame.resolution, frame.ratio, undefined)), frame]));
}

export function sizeText({ widthPx, heightPx }: FrameSize): string {
  return `${widthPx}x${heightPx}`;
}
