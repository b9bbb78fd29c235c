import { v7 as uuid } from 'uuid';
import { noMedia } from '../../../catalogue/media/media-by-role.ts';
import type { TaskInput } from '../../../catalogue/tasks/task.ts';
import { compareWithOrder, describeDifferences } from '../../../media/video/compare-with-order.ts';
import type { JobRequest } from '../../../providers/provider-contract.ts';

export const trialDeadlineMs = 1_800_000;

/** Builds a request for a job without images that belongs to no task. */
export function trialRequest(input: TaskInput): JobRequest {
  const jobKey = uuid();
  return {
    taskId: jobKey,
    ordinal: 1,
    accountHash: '0'.repeat(64),
    jobKey,
    model: 'try',
    input,
    media: async () => noMedia,
    mediaLinks: noMedia,
    deadlineMs: trialDeadlineMs,
  };
}

type TrialVideo = Parameters<typeof compareWithOrder>[1];

/** Returns what an operator must declare about a model whose trial video differs from the order. */
export function adviseOnTrialVideo(input: TaskInput, video: TrialVideo): readonly string[] {
  const short = compareWithOrder(input, video).filter(({ kind }) => kind === 'short');
  const others = short.filter(({ aspect }) => aspect !== 'sound');
  return [
    ...(short.length > others.length ? [silentAdvice] : []),
    ...(others.length === 0
      ? []
      : [
          `The video is not as ordered: ${describeDifferences(others)}. Such tasks fail with result_invalid and are refunded. ` +
            "Sell only what the model makes: set the input of its catalogue's model, fit: convert or shortfall (docs/models.md).",
        ]),
  ];
}

const silentAdvice =
  'The video is silent, so the model must not be sold with sound: set generateAudio: { fixed: false } in its input, or rules: ' +
  '{ audio: never } (docs/models.md).';
