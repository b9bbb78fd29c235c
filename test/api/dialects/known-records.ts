import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import type { TaskRecord } from '../../../src/tasks/public-record.ts';

// Records, and what APIs show of them. No two values of a record are equal, so that none can stand for another.

export const { models } = builtInCatalogue();
export const input = {
  prompt: 'A lighthouse',
  resolution: '2160p',
  duration: 8,
  ratio: '9:16',
  generateAudio: false,
  imageUrls: [],
  seed: 7,
} as const;
export const waiting: TaskRecord = {
  taskId: 'task',
  model: 'videogen-2.0',
  state: 'waiting',
  progress: 0,
  param: { model: 'videogen-2.0', input },
  resultJson: { resultUrls: [] },
  failCode: null,
  failMsg: null,
  creditsCharged: 300,
  creditsRefunded: 0,
  costTime: null,
  createTime: 1_700_000_000_999,
  updateTime: 1_700_000_100_999,
  completeTime: null,
};
export const generating: TaskRecord = { ...waiting, state: 'generating', progress: 40 };
export const links = { resultUrls: ['https://media.example/1'], lastFrameUrl: 'https://media.example/2' };
export const video = { width: 1080, height: 1920, seconds: 7.9, framesPerSecond: 23.976, hasAudio: true, bytes: 99 };
export const success: TaskRecord = {
  ...waiting,
  state: 'success',
  progress: 100,
  param: { ...waiting.param, requestedModel: 'their-name', endUser: 'user-1', callBackUrl: 'https://client.example/' },
  resultJson: { ...links, video },
  creditsRefunded: 20,
  costTime: 1_500_999,
  completeTime: 1_700_000_200_999,
};
export const failed: TaskRecord = {
  ...waiting,
  state: 'fail',
  failCode: 'timeout',
  failMsg: 'It took too long.',
  creditsRefunded: 300,
  completeTime: 1_700_000_200_999,
};
export const cancelled: TaskRecord = { ...failed, failCode: 'cancelled', failMsg: 'It was cancelled.' };
/** Tasks of our own API name no other model. */
export const firstAlias = 'bytedance/seedance-2';

export const arkWaiting = {
  id: 'task',
  model: firstAlias,
  status: 'queued',
  content: null,
  usage: null,
  error: null,
  created_at: 1_700_000_000,
  updated_at: 1_700_000_100,
  seed: 7,
  resolution: '4k',
  ratio: '9:16',
  duration: 8,
  framespersecond: null,
  generate_audio: false,
  safety_identifier: null,
};
export const arkSuccess = {
  ...arkWaiting,
  model: 'their-name',
  status: 'succeeded',
  content: { video_url: 'https://media.example/1', last_frame_url: 'https://media.example/2' },
  usage: { completion_tokens: 0, total_tokens: 0, credits: 280 },
  framespersecond: 24,
  safety_identifier: 'user-1',
};
const kieInput = {
  prompt: 'A lighthouse',
  resolution: '2160p',
  duration: 8,
  aspect_ratio: '9:16',
  generate_audio: false,
  reference_image_urls: [],
  seed: 7,
};
export const kieWaiting = {
  taskId: 'task',
  model: firstAlias,
  state: 'waiting',
  param: { model: firstAlias, input: kieInput },
  resultJson: '',
  response: null,
  successFlag: 0,
  failCode: null,
  failMsg: null,
  costTime: null,
  createTime: 1_700_000_000_999,
  updateTime: 1_700_000_100_999,
  completeTime: null,
  progress: 0,
  creditsConsumed: 300,
};
export const kieSuccess = {
  ...kieWaiting,
  model: 'their-name',
  state: 'success',
  param: { model: 'their-name', callBackUrl: 'https://client.example/', input: kieInput },
  resultJson: '{"resultUrls":["https://media.example/1"]}',
  response: { resultUrls: ['https://media.example/1'] },
  successFlag: 1,
  costTime: 1_500,
  completeTime: 1_700_000_200_999,
  progress: 100,
  creditsConsumed: 280,
};
export const kieFailed = {
  ...kieWaiting,
  state: 'fail',
  successFlag: 3,
  failCode: 'timeout',
  failMsg: 'It took too long.',
  completeTime: 1_700_000_200_999,
  creditsConsumed: 0,
};
export function withParam(shown: object): object {
  return 'param' in shown && typeof shown.param === 'string' ? { ...shown, param: parsed(shown.param) } : shown;
}
export function parsed(text: string): Readonly<Record<string, unknown>> {
  return JSON.parse(text) as Readonly<Record<string, unknown>>; // every text here is an object
}
