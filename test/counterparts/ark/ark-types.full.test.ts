import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import { stage } from '../../providers/ark/ark-stage.ts';
import { pythonWith } from '../../support/processes/installed-packages.ts';
import { bytePlusPackages } from './ark-packages.ts';

// The types of BytePlus' own SDK judge what the kind `ark` sends.

const prompt = 'a lighthouse';

/** The creates of two jobs: one with frames and every other field, one with reference images, videos and audio. */
async function creates(t: TestContext): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { upstream, begin } = await stage(t);
  const folder = await mkdtemp(join(tmpdir(), 'videogen-ark-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'image.jpg');
  await writeFile(path, 'any bytes');
  const frame = { path, widthPx: 9, heightPx: 16 };
  const bounds = { prompt, ratio: '9:16', duration: 12, resolution: '1080p', generateAudio: false, seed: 7 } as const;
  await begin({
    input: withDefaults({ ...bounds, options: { cameraFixed: true, returnLastFrame: true } }),
    frames: { firstFrame: frame, lastFrame: frame },
  });
  await begin({
    input: withDefaults({ prompt, duration: 5, ratio: '16:9' }),
    images: [{ path, widthPx: 900, heightPx: 1600 }],
    links: { videos: ['https://media.example/1.mp4'], audios: ['https://media.example/2.m4a'] },
  });
  return upstream.creates;
}

async function judge(requests: readonly unknown[]): Promise<{ readonly output: string; readonly error: string }> {
  const python = spawn(await pythonWith(...bytePlusPackages), ['test/counterparts/ark/ark-types.py']);
  python.stdin.end(JSON.stringify(requests));
  const [output, error] = await Promise.all([text(python.stdout), text(python.stderr)]);
  return { output, error };
}

test('every field that the kind ark sends has the name and the type of the SDK of BytePlus', async (t) => {
  const requests = await creates(t);
  assert.equal(requests.length, 2);
  assert.deepEqual(await judge(requests), { output: 'ok\n', error: '' });
});

test('the judge refuses an unknown field, an unknown part of an item, and a value of another type', async (t) => {
  const [request] = await creates(t);
  for (const [change, message] of [
    [{ cameraFixed: true }, /cameraFixed is not a parameter/],
    [{ content: [{ type: 'text', text: prompt, words: prompt }] }, /Extra inputs are not permitted/],
    [{ duration: '12' }, /Input should be a valid integer/],
  ] as const) {
    assert.match((await judge([{ ...request, ...change }])).error, message);
  }
});
