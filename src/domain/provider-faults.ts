import type { TaskFailure } from './task.ts';

// What a client reads when a provider could not make its video. No word of an upstream is in it.

export const providerFailures = {
  content: { failCode: 'content_rejected', failMsg: 'The prompt was rejected by the content policy.' },
  image: { failCode: 'image_invalid', failMsg: 'A reference image was rejected by the video provider.' },
  rejected: { failCode: 'provider_rejected', failMsg: 'The video provider could not make this video.' },
  unavailable: { failCode: 'provider_unavailable', failMsg: 'The video provider is not available at the moment.' },
  tooLarge: { failCode: 'result_invalid', failMsg: 'The generated video is too large to be stored.' },
  timeout: { failCode: 'timeout', failMsg: 'The video was not finished within the time allowed for this model.' },
  cancelled: { failCode: 'cancelled', failMsg: 'The task was cancelled.' },
} as const satisfies Readonly<Record<string, TaskFailure>>;
