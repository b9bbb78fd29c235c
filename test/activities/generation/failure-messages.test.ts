import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UpstreamErrorReason } from '../../../src/providers/provider-contract.ts';
import type { TaskInput } from '../../../src/catalogue/input/task-input.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import type { FakeOptions } from '../../support/tasks/fake-upstream.ts';
import { database, played, prepareGenerations, renameProviders, upstreamOf } from './routing-stage.ts';

prepareGenerations();

const outOfMemory = { kind: 'upstream', detail: 'out of memory' } as const;

test('each cause of a failure has its own message', async () => {
  const content = (about?: UpstreamErrorReason['about']) =>
    ({ kind: 'content', detail: '', ...(about && { about }) }) as const;
  const refuses = (error: UpstreamErrorReason) => ({ declines: () => ({ kind: 'refused', error }) as const });
  const media = { kind: 'image', detail: '' } as const;
  const url = 'https://client.example/media';
  const [images, frame, clips] = [{ imageUrls: [url] }, { firstFrameUrl: url }, { videoUrls: [url], audioUrls: [url] }];
  type Case = readonly [FakeOptions, 'billed' | 'free', string, Partial<TaskInput>?];
  const cases: readonly Case[] = [
    [refuses(content()), 'billed', 'content_rejected: The prompt was rejected by the content policy.'],
    [refuses(content()), 'billed', 'content_rejected: The request was rejected by the content policy.', frame],
    [refuses(content()), 'billed', 'content_rejected: The request was rejected by the content policy.', clips],
    [{ fault: content('image') }, 'billed', 'content_rejected: An image was rejected by the content policy.'],
    [{ fault: content('video') }, 'billed', 'content_rejected: A reference video was rejected by the content policy.'],
    [{ fault: content('output') }, 'free', 'content_rejected: The generated video was rejected by the content policy.'],
    [
      { fault: content('sound') },
      'free',
      'content_rejected: The generated sound was rejected by the content policy. A request with generateAudio: false may be accepted.',
    ],
    [
      { fault: content('sound') },
      'free',
      'content_rejected: The generated sound was rejected by the content policy.',
      { generateAudio: false },
    ],
    [{ fault: content() }, 'billed', 'content_rejected: The request was rejected by the content policy.'],
    [refuses(media), 'free', 'image_invalid: An image was rejected by the video provider.', images],
    [refuses(media), 'free', 'image_invalid: An image was rejected by the video provider.', frame],
    [
      { fault: media },
      'free',
      'media_invalid: A reference video or a reference audio file was rejected by the video provider.',
      clips,
    ],
    [
      refuses(media),
      'free',
      'image_invalid: An image, a reference video, or a reference audio file was rejected by the video provider.',
      { ...images, ...clips },
    ],
    [{ fault: outOfMemory }, 'billed', 'provider_rejected: The video model failed while it made this video.'],
    [{ fault: outOfMemory }, 'free', 'provider_rejected: The video model failed while it made this video.'],
    [
      refuses({ kind: 'input', detail: '' }),
      'free',
      'provider_rejected: The video provider does not accept this request.',
    ],
  ];
  for (const [options, failedJobs, message, input = {}] of cases) {
    renameProviders();
    const { taskId } = await played({ upstreams: [upstreamOf('only', options)], terms: { failedJobs }, input });
    const { failCode, failMsg } = (await findTask(database.db, taskId))?.failure ?? {};
    assert.equal(`${failCode}: ${failMsg}`, message);
  }
});
