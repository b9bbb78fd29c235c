import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { containerOf } from '../../../../src/platform/outbound/body/media-container.ts';

/** Packets of a transport stream, of which each begins with a sync byte. */
function packets(...starts: readonly number[]): Buffer {
  return Buffer.concat(starts.map((start) => Buffer.alloc(188, 0).fill(start, 0, 1)));
}

const bytes = (text: string) => Buffer.from(text, 'latin1');

const files: readonly (readonly [what: string, content: Buffer, container: string | undefined])[] = [
  ...['ftyp', 'moov', 'mdat', 'free', 'skip', 'wide'].map(
    (box) => [`a box ${box}`, bytes(`\0\0\0\x18${box}isom`), 'mov'] as const,
  ),
  ['a box at another place', bytes('ftypisom'), undefined],
  ['an unknown box', bytes('\0\0\0\x18abcdisom'), undefined],
  ['Matroska', bytes('\x1aE\xdf\xa3\x01'), 'matroska'],
  ['AVI', bytes('RIFF\0\0\0\0AVI LIST'), 'avi'],
  ['WAVE', bytes('RIFF\0\0\0\0WAVEfmt '), undefined],
  ['an old GIF', bytes('GIF87a'), 'gif'],
  ['a GIF', bytes('GIF89a'), 'gif'],
  ['another GIF', bytes('GIF88a'), undefined],
  ['two packets of a transport stream', packets(0x47, 0x47), 'mpegts'],
  ['one packet', packets(0x47, 0x00), undefined],
  ['a packet behind another byte', packets(0x00, 0x47), undefined],
  ['a text', bytes('{"error": "not found"}'), undefined],
  ['nothing', Buffer.alloc(0), undefined],
];

for (const [what, content, container] of files) {
  test(`a file that begins with ${what} is ${container ?? 'no video'}`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'videogen-container-'));
    t.after(() => rm(folder, { recursive: true }));
    const path = join(folder, 'file');
    await writeFile(path, content);
    assert.equal(await containerOf(path), container);
  });
}
