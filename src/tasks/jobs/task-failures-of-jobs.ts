import type { UpstreamErrorReason } from '../../providers/provider-contract.ts';
import { mediaUrlsOf, type TaskInput } from '../../catalogue/input/task-input.ts';
import type { TaskFailure } from '../../catalogue/tasks/task.ts';

/** Clients read these sentences, which contain no text of an upstream. */
export const providerFailures = {
  rejected: { failCode: 'provider_rejected', failMsg: 'The video provider does not accept this request.' },
  failed: { failCode: 'provider_rejected', failMsg: 'The video model failed while it made this video.' },
  unavailable: { failCode: 'provider_unavailable', failMsg: 'The video provider is temporarily unavailable.' },
  tooLarge: { failCode: 'result_invalid', failMsg: 'The generated video is too large to be stored.' },
  unreachable: { failCode: 'result_invalid', failMsg: 'The generated video could not be fetched.' },
  timeout: { failCode: 'timeout', failMsg: 'The video was not finished within the time allowed for this model.' },
  cancelled: { failCode: 'cancelled', failMsg: 'The task was cancelled.' },
} as const satisfies Readonly<Record<string, TaskFailure>>;

const words: Readonly<Record<NonNullable<UpstreamErrorReason['about']>, string>> = {
  prompt: 'the prompt',
  image: 'an image',
  video: 'a reference video',
  audio: 'a reference audio file',
  output: 'the generated video',
  sound: 'the generated sound',
};

/** Returns the failure of a task that no other provider can make either; undefined for an error that is only this provider's. */
export function taskFailureFor({ kind, about }: UpstreamErrorReason, input: TaskInput): TaskFailure | undefined {
  if (kind === 'content') {
    const what = about === undefined ? 'the request' : words[about];
    const failMsg = sentence(`${what} was rejected by the content policy.`);
    const hint =
      about === 'sound' && input.generateAudio ? ' A request with generateAudio: false may be accepted.' : '';
    return { failCode: 'content_rejected', failMsg: `${failMsg}${hint}` };
  }
  if (kind !== 'image') return undefined;
  const sent = [...new Set(mediaUrlsOf(input).map((one) => one.kind))];
  // Providers report that a medium was rejected, and rarely which one.
  const kinds = sent.length === 0 ? (['image'] as const) : sent;
  const failCode = kinds.includes('image') ? 'image_invalid' : 'media_invalid';
  const what = new Intl.ListFormat('en', { type: 'disjunction' }).format(kinds.map((one) => words[one]));
  return { failCode, failMsg: sentence(`${what} was rejected by the video provider.`) };
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
