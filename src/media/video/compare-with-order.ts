import { countedSeconds } from '../../catalogue/prices/counted-seconds.ts';
import type { TaskInput } from '../../catalogue/input/task-input.ts';
import type { Task, TaskResult } from '../../catalogue/tasks/task.ts';
import {
  frameSizesAt720p,
  isClearlyAboveResolution,
  isClearlyBelowResolution,
} from '../../catalogue/media/frame-size.ts';

// The comparison of a stored video with its order: seconds, sound, ratio and size. A shortfall ends as the model declares
// (src/tasks/end/shortfall-terms-and-decision.ts); more than ordered is delivered and reported to operators.

/** Sides of encoders are multiples of 8 or 16, so a ratio may differ by this share. The nearest two ratios that are sold differ by 6 %. */
const ratioTolerance = 0.05;

export const comparedAspects = ['seconds', 'sound', 'ratio', 'size'] as const;

/**
 * One aspect in which a video differs from its order. The tolerance of the seconds is in `countedSeconds`, that of the size in `isClearlyBelowResolution` and
 * `isClearlyAboveResolution`.
 */
export type OrderDifference = {
  readonly aspect: (typeof comparedAspects)[number];
  /** A wrong ratio is short. */
  readonly kind: 'short' | 'more';
  readonly ordered: string;
  readonly delivered: string;
};

type Order = Pick<TaskInput, 'duration' | 'generateAudio' | 'ratio' | 'resolution'> & Partial<TaskInput>;
type Measured = Pick<TaskResult, 'durationSeconds' | 'hasAudio' | 'widthPx' | 'heightPx'>;

export function compareWithOrder(order: Order, video: Measured): readonly OrderDifference[] {
  return [secondsOf(order, video), soundOf(order, video), ratioOf(order, video), sizeOf(order, video)].flat();
}

/** The differences of a successful task; none once its content, such as the images of the request, is deleted. */
export function differencesOfTask({ param, result, contentDeletedAt }: Task): readonly OrderDifference[] {
  return result === undefined || contentDeletedAt !== undefined ? [] : compareWithOrder(param.input, result);
}

function secondsOf({ duration }: Order, video: Measured): readonly OrderDifference[] {
  const counted = countedSeconds(video);
  if (counted === duration) return [];
  const kind = counted < duration ? 'short' : 'more';
  return [{ aspect: 'seconds', kind, ordered: `${duration} s`, delivered: `${video.durationSeconds.toFixed(1)} s` }];
}

/** Sound that was not ordered is removed before. */
function soundOf({ generateAudio }: Order, { hasAudio }: Measured): readonly OrderDifference[] {
  if (hasAudio || !generateAudio) return [];
  return [{ aspect: 'sound', kind: 'short', ordered: 'sound', delivered: 'no sound' }];
}

/** A video that begins with a picture of the request, or follows one, may have the shape of that picture. */
function ratioOf(order: Order, { widthPx, heightPx }: Measured): readonly OrderDifference[] {
  const { ratio, imageUrls = [], videoUrls = [], firstFrameUrl, lastFrameUrl } = order;
  const hasPicture = imageUrls.length + videoUrls.length > 0 || (firstFrameUrl ?? lastFrameUrl) !== undefined;
  if (ratio === 'adaptive' || hasPicture) return [];
  const size = frameSizesAt720p[ratio];
  const factor = widthPx / heightPx / (size.widthPx / size.heightPx);
  if (Math.abs(Math.log(factor)) <= Math.log(1 + ratioTolerance)) return [];
  return [{ aspect: 'ratio', kind: 'short', ordered: ratio, delivered: `${widthPx} × ${heightPx} pixels` }];
}

function sizeOf({ resolution }: Order, { widthPx, heightPx }: Measured): readonly OrderDifference[] {
  const size = { widthPx, heightPx };
  const kind = isClearlyBelowResolution(resolution, size)
    ? 'short'
    : isClearlyAboveResolution(resolution, size)
      ? 'more'
      : undefined;
  if (kind === undefined) return [];
  return [{ aspect: 'size', kind, ordered: resolution, delivered: `${widthPx} × ${heightPx} pixels` }];
}

/** Such as `1.2 s instead of 15 s, no sound instead of sound`. */
export function describeDifferences(differences: readonly OrderDifference[]): string {
  return differences.map(({ ordered, delivered }) => `${delivered} instead of ${ordered}`).join(', ');
}
