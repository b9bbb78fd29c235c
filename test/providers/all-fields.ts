import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type TaskInput, withDefaults } from '../../src/tasks/task-input.ts';
import type { ReferenceMedia } from '../../src/tasks/ports.ts';

const url = (name: string) => `https://client.example/${name}`;

/** A value for every field of a request. */
export const allFields: Required<TaskInput> = {
  ...withDefaults({ prompt: 'a lighthouse', duration: 5, ratio: '4:3' }),
  negativePrompt: 'fog',
  resolution: '1080p',
  imageUrls: [url('image')],
  firstFrameUrl: url('first'),
  lastFrameUrl: url('last'),
  videoUrls: [url('clip')],
  audioUrls: [url('voice')],
  seed: 42,
  options: { steps: 30 },
};

/** The contents of the files of `allMedia`, each of its own length. */
export const contents = { image: 'i', firstFrame: 'ff', lastFrame: 'lll', video: 'vvvv', audio: 'aaaaa' } as const;

/** One file of each role. */
export async function allMedia(t: TestContext): Promise<Required<ReferenceMedia>> {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-media-'));
  t.after(() => rm(folder, { recursive: true }));
  const stored = async (name: string, content: string) => {
    await writeFile(join(folder, name), content);
    return { path: join(folder, name), widthPx: 1280, heightPx: 720, seconds: 4 };
  };
  return {
    images: [await stored('image.jpg', contents.image)],
    firstFrame: await stored('first.jpg', contents.firstFrame),
    lastFrame: await stored('last.jpg', contents.lastFrame),
    videos: [await stored('clip.mp4', contents.video)],
    audios: [await stored('voice.m4a', contents.audio)],
  };
}

export function dataUrl(contentType: string, content: string): string {
  return `data:${contentType};base64,${Buffer.from(content).toString('base64')}`;
}
