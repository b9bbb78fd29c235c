import { type FrameSize, frameSize } from '../../catalogue/media/frame-size.ts';
import { type Ratio, type Resolution } from '../../catalogue/input/resolutions-ratios-and-field-bounds.ts';
import type { FieldError } from '../../platform/text/field-errors.ts';
import type { ModelInput } from '../../catalogue/input/task-input.ts';
import type { TaskRecord } from '../../tasks/public-record.ts';

type Frame = { readonly resolution: Resolution; readonly ratio: Ratio };

/** Every size that a model sells, as `1280x720`, and what it means in our fields. */
export function mapSizesToFields({ fields }: ModelInput): ReadonlyMap<string, Frame> {
  const ratios = fields.ratio.values.filter((ratio) => ratio !== 'adaptive');
  const frames = fields.resolution.values.flatMap((resolution) => ratios.map((ratio) => ({ resolution, ratio })));
  return new Map(frames.map((frame) => [sizeText(frameSize(frame.resolution, frame.ratio, undefined)), frame]));
}

export function sizeText({ widthPx, heightPx }: FrameSize): string {
  return `${widthPx}x${heightPx}`;
}

type Requested = { readonly resolution?: unknown; readonly ratio?: unknown };
type ReadSize = { readonly fields: Requested; readonly errors: readonly FieldError[] };

/**
 * Reads `size`, which may come beside the fields that it stands for if they agree. Without a known model, `size` is not read: the request
 * is refused for the name of its model.
 */
export function readSize(model: ModelInput | undefined, size: unknown, requested: Requested): ReadSize {
  if (size === undefined || size === null || model === undefined) return { fields: requested, errors: [] };
  const sizes = mapSizesToFields(model);
  const frame = typeof size === 'string' ? sizes.get(size) : undefined;
  const refused = (message: string) => ({ fields: requested, errors: [{ path: 'size', message }] });
  if (frame === undefined) return refused(`must be one of ${[...sizes.keys()].join(', ')}`);
  const { resolution, ratio } = requested;
  const agrees = (resolution ?? frame.resolution) === frame.resolution && (ratio ?? frame.ratio) === frame.ratio;
  return agrees ? { fields: frame, errors: [] } : refused('must agree with the resolution and the aspect ratio');
}

/** The size of a stored video, or the one that is expected. */
export function sizeOfVideo({ param: { input }, resultJson: { video } }: TaskRecord): FrameSize {
  if (video !== undefined) return { widthPx: video.width, heightPx: video.height };
  return frameSize(input.resolution, input.ratio, undefined);
}
