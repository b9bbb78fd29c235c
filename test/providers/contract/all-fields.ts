import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type TaskInput, withDefaults } from '../../../src/catalogue/input/task-input.ts';
import type { PreparedReferenceImage, PreparedMediaByRole } from '../../../src/catalogue/media/media-by-role.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

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

type Frames = Readonly<Record<'firstFrame' | 'lastFrame', PreparedReferenceImage>>;

/** One file of each role. */
export async function allMedia(t: TestContext): Promise<PreparedMediaByRole & Frames> {
  const folder = await temporaryFolder(t);
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

/** Makes files that contain their names, for providers that send images without decoding them. */
export async function imageFiles(t: TestContext): Promise<(name: string) => PreparedReferenceImage> {
  const folder = await temporaryFolder(t);
  return (name) => {
    const path = join(folder, name);
    writeFileSync(path, name);
    return { path, widthPx: 900, heightPx: 1600 };
  };
}

export function dataUrl(contentType: string, content: string): string {
  return `data:${contentType};base64,${Buffer.from(content).toString('base64')}`;
}
