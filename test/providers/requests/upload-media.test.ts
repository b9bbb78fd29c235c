import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { test } from 'node:test';
import type { FormFile } from '../../../src/providers/requests/request-bodies.ts';
import { type FileUploadOutcome, uploadMedia } from '../../../src/providers/requests/upload-media.ts';
import { allMedia, contents } from '../contract/all-fields.ts';

const bounds = { maxImageBytes: 1_000, maxClipBytes: 1_000 };
const [unclear, detail] = [{ kind: 'unknown', detail: 'cut' } as const, 'cut'];

/** A store that gives these answers first, and then names each file. */
function store(...answers: readonly FileUploadOutcome<string>[]) {
  const sent: FormFile[] = [];
  const left = [...answers];
  return { sent, send: async (file: FormFile) => (sent.push(file), left.shift() ?? { stored: `at ${file.name}` }) };
}

test('the files of a request are stored in order, under names of their own, and each role gets its own', async (t) => {
  const { sent, send } = store();
  assert.deepEqual(await uploadMedia(await allMedia(t), bounds, send), {
    images: ['at image-1.jpg'],
    firstFrame: 'at image-2.jpg',
    lastFrame: 'at image-3.jpg',
    videos: ['at clip-1.mp4'],
    audios: ['at clip-2.mp3'],
  });
  assert.deepEqual(
    sent.map(({ name, contentType, bytes }) => [name, contentType, String(bytes)]),
    [
      ['image-1.jpg', 'image/jpeg', contents.image],
      ['image-2.jpg', 'image/jpeg', contents.firstFrame],
      ['image-3.jpg', 'image/jpeg', contents.lastFrame],
      ['clip-1.mp4', 'video/mp4', contents.video],
      ['clip-2.mp3', 'audio/mpeg', contents.audio],
    ],
  );
});

test('a clip may have as many bytes as the upstream accepts; one byte more is refused', async (t) => {
  const media = await allMedia(t);
  const { size } = await stat(media.audios[0]?.path ?? '');
  const { sent, send } = store();
  assert.ok('audios' in (await uploadMedia(media, { ...bounds, maxClipBytes: size }, send)));
  assert.equal(sent.length, 5);
  const refused = await uploadMedia(media, { ...bounds, maxClipBytes: size - 1 }, send);
  assert.ok('kind' in refused && refused.kind === 'refused' && refused.error.kind === 'input');
});

test('nothing is sent after a file that the upstream declines', async (t) => {
  const media = await allMedia(t);
  for (const answer of [
    { kind: 'refused', error: { kind: 'image', detail } },
    { kind: 'not_accepted', reason: 'busy', detail },
  ] as const) {
    const { sent, send } = store({ stored: 'a' }, answer);
    assert.deepEqual(await uploadMedia(media, bounds, send), answer);
    assert.equal(sent.length, 2);
  }
});

test('a file without a clear answer is sent three times, and then the upstream counts as unreachable', async (t) => {
  const media = await allMedia(t);
  const patient = store(unclear, unclear);
  assert.ok('images' in (await uploadMedia(media, bounds, patient.send)));
  const given = store(unclear, unclear, unclear);
  assert.deepEqual(await uploadMedia(media, bounds, given.send), {
    kind: 'not_accepted',
    reason: 'unreachable',
    detail,
  });
  assert.equal(given.sent.length, 3);
});
