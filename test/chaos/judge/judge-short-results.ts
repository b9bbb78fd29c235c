import type { FinalTask, SeenVideo } from './evidence.ts';
import { deliveredOf, dueFor, type Film, type ShortOrder } from '../faults/short-results.ts';

/**
 * A successful task whose upstream made another film than was ordered costs the price of the film that its customer can fetch, as it was
 * measured there. Returns a sentence for each violation.
 */
export function judgeShortResult(
  { taskId, creditsCharged, creditsRefunded }: FinalTask,
  { policy, ordered, film }: ShortOrder,
  video: SeenVideo | string | undefined,
): readonly string[] {
  // Reported by the check of videos.
  if (typeof video !== 'object') return [];
  const made = deliveredOf({ ordered, film });
  const name = `task ${taskId} (shortfall: ${policy}, ordered: ${described(ordered)})`;
  const due = dueFor(policy, ordered, video);
  const paid = creditsCharged - creditsRefunded;
  return [
    ...(isSame(video, made) ? [] : [`${name} delivered ${described(video)}; its upstream made ${described(made)}`]),
    ...(due === undefined ? [`${name} succeeded with ${described(video)}`] : []),
    ...(due === undefined || paid === due ? [] : [`${name} cost ${paid} credits for ${described(video)}, not ${due}`]),
  ];
}

function isSame(one: Film, other: Film): boolean {
  return described(one) === described(other);
}

function described({ seconds, hasSound, isUpright }: Film): string {
  return `${seconds} s${hasSound ? '' : ', silent'}${isUpright ? ', upright' : ''}`;
}
