import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { WorkerParts } from '../../../src/run/main/wire-activities.ts';
import type { PolledProvider } from '../../../src/providers/provider-contract.ts';
import type { MediaLinks, PreparedMediaByRole } from '../../../src/catalogue/media/media-by-role.ts';
import { TaskError } from '../../../src/catalogue/tasks/task-error.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { createFolderStore } from '../../support/folder-store.ts';
import type { FakeOptions } from '../../support/tasks/fake-upstream.ts';
import { playTask } from '../../support/tasks/play-task.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import {
  accountId,
  database,
  folder,
  noop,
  prepareGenerations,
  renameProviders,
  upstreamOf,
  worldOf,
} from './routing-stage.ts';

prepareGenerations();

// Copies of reference media for upstreams that fetch them.

const size = { widthPx: 300, heightPx: 300 };
const images = ['image-0.jpg', 'image-1.jpg', 'image-2.jpg'] as const;
const clips = ['video-0.mp4', 'video-1.mp4', 'audio-0.mp3'] as const;

/** Reference media of every role, as files that hold their own names. */
async function fetchAll(at: string): Promise<PreparedMediaByRole> {
  for (const name of [...images, ...clips]) await writeFile(join(at, name), name);
  const [image, first, last] = images.map((name) => ({ path: join(at, name), ...size }));
  const [video1, video2, audio] = clips.map((name) => ({ path: join(at, name), seconds: 2 }));
  assert.ok(image && first && last && video1 && video2 && audio);
  return { images: [image], firstFrame: first, lastFrame: last, videos: [video1, video2], audios: [audio] };
}

const input = {
  imageUrls: ['http://client.test/1'],
  firstFrameUrl: 'http://client.test/2',
  lastFrameUrl: 'http://client.test/3',
  videoUrls: ['http://client.test/4', 'http://client.test/5'],
  audioUrls: ['http://client.test/6'],
};

type Seen = { readonly links: MediaLinks; readonly files: readonly string[] };

/** Runs a task at an upstream that fetches media by link. Returns what it received, and the files that are left. */
async function playLinked(by: Pick<PolledProvider, 'images' | 'clips'>, options: FakeOptions = {}) {
  const upstream = upstreamOf('links', options);
  const store = createFolderStore(folder);
  const filesIn = async (of: string) => {
    const keys: string[] = [];
    for await (const { key } of store.list(of)) keys.push(key);
    return keys.toSorted();
  };
  let taskId = '';
  let seen: Seen | undefined;
  const provider: PolledProvider = {
    ...upstream.provider,
    ...by,
    submit: async (request, signal) => {
      seen = { links: request.mediaLinks, files: await filesIn(`references/${taskId}`) };
      return await upstream.provider.submit(request, signal);
    },
  };
  taskId = await acceptTestTask(database.db, accountId, taskParam('linked', input));
  const change = ({ videoTools, ...parts }: WorkerParts): WorkerParts => ({
    ...parts,
    videoTools: { ...videoTools, fetchMedia: ({ folder: at }) => fetchAll(at) },
  });
  const world = worldOf({ upstreams: [{ ...upstream, provider }], change });
  await playTask({ next: () => world }, { taskId, betweenAttempts: noop });
  const task = await findTask(database.db, taskId);
  assert.ok(seen);
  return { taskId, state: task?.state, seen, left: await filesIn(`references/${taskId}`) };
}

const keyOf = (link: string | undefined) => new URL(String(link)).pathname.slice('/media/'.length);

test('an upstream that fetches gets a link to a copy of each file, by role and in order, and the copies end with the task', async () => {
  const { taskId, state, seen, left } = await playLinked({ images: 'link', clips: 'link' });
  const { links, files } = seen;
  const names = ['1.jpg', 'first-frame-1.jpg', 'last-frame-1.jpg', 'video-1.mp4', 'video-2.mp4', 'audio-1.mp3'];
  const keys = names.map((name) => `references/${taskId}/${name}`);
  const {
    images: [image],
    firstFrame,
    lastFrame,
    videos: [video1, video2],
    audios: [audio],
  } = links;
  assert.deepEqual([image, firstFrame, lastFrame, video1, video2, audio].map(keyOf), keys);
  assert.deepEqual(files, keys.toSorted());
  assert.deepEqual([state, left], ['success', []]);
});

test('only the kinds that an upstream fetches are copied', async () => {
  for (const [by, files] of [
    [{ images: 'file', clips: 'link' }, ['audio-1.mp3', 'video-1.mp4', 'video-2.mp4']],
    [{ images: 'link', clips: 'file' }, ['1.jpg', 'first-frame-1.jpg', 'last-frame-1.jpg']],
    [{ images: 'file' }, []],
  ] as const) {
    renameProviders();
    const { taskId, state, seen, left } = await playLinked(by);
    assert.deepEqual(
      seen.files,
      files.map((name) => `references/${taskId}/${name}`),
    );
    assert.deepEqual([state, left], ['success', []]);
  }
});

test('media that cannot be used end the task with their code and a full refund, before anything is sent', async () => {
  for (const failCode of ['media_invalid', 'media_unreachable'] as const) {
    renameProviders();
    const upstream = upstreamOf('links');
    const taskId = await acceptTestTask(database.db, accountId, taskParam('refused', input));
    const failMsg = 'input.videoUrls[1] is longer than 15 seconds.';
    const change = ({ videoTools, ...parts }: WorkerParts): WorkerParts => ({
      ...parts,
      videoTools: { ...videoTools, fetchMedia: () => Promise.reject(new TaskError(failCode, failMsg)) },
    });
    const world = worldOf({ upstreams: [upstream], change });
    await playTask({ next: () => world }, { taskId, betweenAttempts: noop });
    const task = await findTask(database.db, taskId);
    assert.deepEqual([task?.state, task?.failure, upstream.jobs], ['fail', { failCode, failMsg }, []]);
    assert.ok(task);
    assert.equal(task.creditsRefunded, task.creditsCharged);
  }
});
