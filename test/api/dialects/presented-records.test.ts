import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presentArkTask } from '../../../src/api/dialects/ark/ark-task.ts';
import { dialectAdapter } from '../../../src/api/dialects/native-and-kie-dialects.ts';
import { presentOpenAIVideo } from '../../../src/api/dialects/openai/openai-video.ts';
import { presentOpenRouterVideo } from '../../../src/api/dialects/openrouter/openrouter-video-and-callback.ts';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import type { TaskRecord } from '../../../src/tasks/public-record.ts';
import {
  arkSuccess,
  arkWaiting,
  cancelled,
  failed,
  firstAlias,
  generating,
  input,
  kieFailed,
  kieSuccess,
  kieWaiting,
  links,
  models,
  success,
  video,
  waiting,
  withParam,
} from './known-records.ts';

// How each API writes a record.

const { seed: _seed, ...seedless } = input;
const openAIWaiting = {
  id: 'task',
  object: 'video',
  model: firstAlias,
  status: 'queued',
  progress: 0,
  created_at: 1_700_000_000,
  completed_at: null,
  expires_at: null,
  prompt: 'A lighthouse',
  seconds: '8',
  size: '2160x3840',
  error: null,
  remixed_from_video_id: null,
};
const openAI = (record: TaskRecord) => presentOpenAIVideo({ catalogue: builtInCatalogue, retentionMs: 50_000 }, record);

const openRouterWaiting = { id: 'task', polling_url: 'https://host.example/api/v1/videos/task', status: 'pending' };
const openRouter = (record: TaskRecord) => presentOpenRouterVideo(record, 'https://host.example');

const ark = (record: TaskRecord) => presentArkTask(record, models);

/** The record, whose `param` is a text of which this reads the values. */
function kie(record: TaskRecord): object {
  return withParam(dialectAdapter('kie').taskRecord(record, models));
}
const expiring = { completed_at: 1_700_000_200, expires_at: 1_700_000_250 };
const cases: readonly (readonly [what: string, shown: object, expected: object])[] = [
  ['OpenAI: a waiting video', openAI(waiting), openAIWaiting],
  ['OpenAI: a queuing video', openAI({ ...waiting, state: 'queuing' }), openAIWaiting],
  ['OpenAI: a video in progress', openAI(generating), { ...openAIWaiting, status: 'in_progress', progress: 40 }],
  [
    'OpenAI: a completed video',
    openAI(success),
    { ...openAIWaiting, ...expiring, model: 'their-name', status: 'completed', progress: 100, size: '1080x1920' },
  ],
  [
    'OpenAI: a failed video, which has nothing that expires',
    openAI(failed),
    {
      ...openAIWaiting,
      status: 'failed',
      completed_at: 1_700_000_200,
      error: { code: 'timeout', message: 'It took too long.' },
    },
  ],
  ['OpenRouter: a waiting video', openRouter(waiting), openRouterWaiting],
  ['OpenRouter: a queuing video', openRouter({ ...waiting, state: 'queuing' }), openRouterWaiting],
  ['OpenRouter: a video in progress', openRouter(generating), { ...openRouterWaiting, status: 'in_progress' }],
  [
    'OpenRouter: a completed video, which cost what was not refunded',
    openRouter(success),
    {
      ...openRouterWaiting,
      status: 'completed',
      urls: links.resultUrls,
      unsigned_urls: links.resultUrls,
      usage: { is_byok: false, credits: 280 },
    },
  ],
  [
    'OpenRouter: a failed video',
    openRouter(failed),
    { ...openRouterWaiting, status: 'failed', error: 'It took too long. (timeout)' },
  ],
  [
    'OpenRouter: a cancelled video',
    openRouter(cancelled),
    { ...openRouterWaiting, status: 'cancelled', error: 'It was cancelled. (cancelled)' },
  ],
  ['Ark: a waiting task', ark(waiting), arkWaiting],
  ['Ark: a queuing task', ark({ ...waiting, state: 'queuing' }), arkWaiting],
  ['Ark: a running task', ark(generating), { ...arkWaiting, status: 'running' }],
  ['Ark: a task that succeeded', ark(success), arkSuccess],
  [
    'Ark: a task without a seed, a last frame or sound',
    ark({
      ...success,
      param: { ...success.param, input: { ...seedless, resolution: '720p', generateAudio: true } },
      resultJson: { resultUrls: links.resultUrls, video },
    }),
    {
      ...arkSuccess,
      content: { video_url: 'https://media.example/1', last_frame_url: null },
      seed: null,
      resolution: '720p',
      generate_audio: true,
    },
  ],
  [
    'Ark: a task whose video was deleted',
    ark({ ...success, resultJson: { resultUrls: [], video } }),
    { ...arkSuccess, content: null },
  ],
  [
    'Ark: a task that failed',
    ark(failed),
    { ...arkWaiting, status: 'failed', error: { code: 'timeout', message: 'It took too long.' } },
  ],
  [
    'Ark: a task that was cancelled',
    ark(cancelled),
    { ...arkWaiting, status: 'cancelled', error: { code: 'cancelled', message: 'It was cancelled.' } },
  ],
  ['kie: a waiting task', kie(waiting), kieWaiting],
  ['kie: a task that succeeded', kie(success), kieSuccess],
  ['kie: a task that failed', kie(failed), kieFailed],
  [
    'kie: the answer to a create',
    dialectAdapter('kie').createdTask({ taskId: 'task', creditsCharged: 300 }),
    { taskId: 'task', recordId: 'task' },
  ],
];
for (const [what, shown, expected] of cases) {
  test(`${what} has each value under its documented name`, () => assert.deepEqual(shown, expected));
}
