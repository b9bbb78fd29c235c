import type { ConversionBeforeStorage } from '../../../src/catalogue/media/conversion-before-storage.ts';
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { carryManifest } from '../../../src/media/video/carry-manifest.ts';
import { aiSourceType, labelAsGenerated } from '../../../src/media/video/label-as-generated.ts';
import { createVideoNormalizer } from '../../../src/media/ffmpeg/convert-result-video.ts';
import { checkAndMeasureVideo } from '../../../src/media/video/check-and-measure-video.ts';
import { videoLayoutOf } from '../../../src/media/video/mp4-top-level-boxes.ts';
import type { FfmpegRunner } from '../../../src/catalogue/media/ffmpeg-runner-types.ts';
import { fakeVideoPath } from '../../fakes/restartable-server.ts';
import { pinnedFfmpeg } from '../../providers/preview/render-support.ts';
import { box, boxesOf, insertedBehindStart, manifestBox, typesOf, xmpBox, xmpIn } from '../boxes.ts';

const signal = new AbortController().signal;
const mark = { taskId: '018f0000-0000-7000-8000-000000000001', model: 'studio/a&b<"c">', service: 'Harbour & Sons' };
const asIs: ConversionBeforeStorage = {
  audio: true,
  fit: 'keep',
  resolution: '720p',
  ratio: 'adaptive',
  lastFrame: false,
};
const never: FfmpegRunner = async () => assert.fail('ffmpeg was not to be run');
const ffmpeg = pinnedFfmpeg();

let folder: string;
let clip: Buffer;
let files = 0;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'videogen-marks-'));
  clip = await readFile(fakeVideoPath);
});
after(() => rm(folder, { recursive: true }));

async function written(bytes: Buffer): Promise<string> {
  const path = join(folder, `${(files += 1)}.mp4`);
  await writeFile(path, bytes);
  return path;
}

async function marked(bytes: Buffer): Promise<Buffer> {
  const path = await written(bytes);
  const result = await readFile(await labelAsGenerated(path, `${path}.marked`, mark));
  assert.deepEqual(await readFile(path), bytes, 'the file itself stays');
  return result;
}

async function normalized(
  bytes: Buffer,
  form: ConversionBeforeStorage,
  runner: FfmpegRunner = ffmpeg,
): Promise<Buffer> {
  const videoPath = await written(bytes);
  const targetPath = `${videoPath}.target`;
  return await readFile(await createVideoNormalizer(runner)({ videoPath, targetPath, form, signal }));
}

async function measured(bytes: Buffer) {
  const { sha256: _sha256, bytes: _bytes, ...facts } = await checkAndMeasureVideo(await written(bytes));
  return facts;
}

/** Decodes every picture and sound; a wrong offset is an error. */
async function decode(bytes: Buffer): Promise<void> {
  const args = ['-xerror', '-err_detect', 'explode', '-i', await written(bytes), '-f', 'null', '-'];
  await ffmpeg({ args, cwd: folder, signal });
}

test('the mark stands behind the video, whose bytes stay, and has source type, generator, model and task', async () => {
  const file = await marked(clip);
  assert.deepEqual(file.subarray(0, clip.length), clip);
  assert.deepEqual(typesOf(file), ['ftyp', 'moov', 'free', 'mdat', 'uuid']);
  const xmp = xmpIn(file) ?? assert.fail();
  assert.ok(xmp.includes(`Iptc4xmpExt:DigitalSourceType="${aiSourceType}"`));
  assert.ok(xmp.includes(`dc:identifier="urn:uuid:${mark.taskId}"`));
  assert.ok(xmp.includes('xmp:CreatorTool="Harbour &amp; Sons"'));
  assert.ok(xmp.includes('Iptc4xmpExt:AISystemUsed="studio/a&amp;b&lt;&quot;c&quot;>"'));
  assert.deepEqual(await measured(file), await measured(clip));
  assert.equal((await videoLayoutOf(await written(file))).isIndexFirst, true);
  await decode(file);
});

test('a marked video is not marked again, nor one that its upstream has marked', async () => {
  const path = await written(await marked(clip));
  assert.equal(await labelAsGenerated(path, `${path}.again`, mark), path);
  const upstream = await written(Buffer.concat([clip, xmpBox(`<x DigitalSourceType="${aiSourceType}"/>`)]));
  assert.equal(await labelAsGenerated(upstream, `${upstream}.again`, mark), upstream);
});

test('another packet of XMP is blanked where it is, so that the file has one, and nothing moves', async () => {
  const note = xmpBox('<x:xmpmeta>the prompt of the upstream</x:xmpmeta>');
  const file = await marked(Buffer.concat([clip, note, box('free', Buffer.alloc(9))]));
  assert.deepEqual(typesOf(file), ['ftyp', 'moov', 'free', 'mdat', 'free', 'free', 'uuid']);
  assert.ok(!file.includes('the prompt of the upstream'));
  assert.ok(xmpIn(file)?.includes(aiSourceType));
  await decode(file);
});

test('a packet of XMP is blanked whole, and is searched for the mark in its first MiB', async () => {
  const mib = 1024 * 1024;
  const secret = xmpBox('secret '.repeat(30_000));
  const file = await marked(Buffer.concat([clip, secret]));
  assert.deepEqual(typesOf(file), ['ftyp', 'moov', 'free', 'mdat', 'free', 'uuid']);
  assert.ok(file.subarray(clip.length + 8, clip.length + secret.length).every((byte) => byte === 0));
  // The type of the box takes 16 bytes.
  const padded = (bytes: number) => xmpBox(' '.repeat(bytes - 16 - aiSourceType.length) + aiSourceType);
  for (const [bytes, isMarked] of [
    [mib, true],
    [mib + 1, false],
  ] as const) {
    const path = await written(Buffer.concat([clip, padded(bytes)]));
    const result = await labelAsGenerated(path, `${path}.marked`, mark);
    assert.equal(result === path, isMarked, String(bytes));
  }
});

test('data up to the end of the file gets its size, so that the mark is no part of it', async () => {
  const open = Buffer.from(clip);
  const data = clip.indexOf('mdat', 0, 'latin1') - 4;
  open.writeUInt32BE(0, data);
  assert.deepEqual(await marked(open), await marked(clip));
});

test('a video that other bytes follow is rewritten first, and can be marked then', async () => {
  for (const rest of [Buffer.alloc(4), Buffer.from('<html>')]) {
    const whole = await normalized(Buffer.concat([clip, rest]), asIs);
    assert.equal((await videoLayoutOf(await written(whole))).isWhole, true);
    await decode(await marked(whole));
  }
});

test('a video with a manifest that plays is not touched, also with its index at the end', async () => {
  assert.deepEqual(
    await normalized(insertedBehindStart(clip, manifestBox()), asIs, never),
    insertedBehindStart(clip, manifestBox()),
  );
  const args = ['-i', fakeVideoPath, '-c', 'copy', 'index-last.mp4'];
  await ffmpeg({ args, cwd: folder, signal });
  const last = await readFile(join(folder, 'index-last.mp4'));
  assert.deepEqual(typesOf(last).slice(-2), ['mdat', 'moov']);
  const signed = Buffer.concat([last, manifestBox()]);
  assert.deepEqual(await normalized(signed, asIs, never), signed);
  assert.deepEqual(typesOf(await normalized(last, asIs)).slice(0, 2), ['ftyp', 'moov'], 'without one it is rewritten');
});

test('a conversion carries the manifest behind ftyp, with every picture and sound where its index has it', async () => {
  const manifest = manifestBox('m'.repeat(70_001));
  const conversions: readonly [string, ConversionBeforeStorage, readonly string[]][] = [
    ['the sound removed', { ...asIs, audio: false }, ['-c', 'copy']],
    ['scaled', { ...asIs, fit: 'convert', ratio: '9:16' }, ['-c', 'copy']],
    ['from QuickTime', asIs, ['-c', 'copy', '-f', 'mov']],
    ['from fragments', asIs, ['-c', 'copy', '-movflags', 'frag_keyframe+empty_moov']],
  ];
  for (const [name, form, options] of conversions) {
    const source = `source-${(files += 1)}.mp4`;
    await ffmpeg({ args: ['-i', fakeVideoPath, ...options, source], cwd: folder, signal });
    const signed = Buffer.concat([await readFile(join(folder, source)), manifest]);
    const file = await normalized(signed, form);
    assert.deepEqual(typesOf(file).slice(0, 3), ['ftyp', 'uuid', 'moov'], name);
    assert.deepEqual(boxesOf(file)[1]?.bytes, manifest, name);
    await decode(file);
    const { durationSeconds } = await measured(file);
    assert.ok(durationSeconds > 0, name);
    await decode(await marked(file));
    assert.deepEqual(await normalized(file, form, never), file, 'a repeated step finds it as it is');
  }
});

test('offsets of 64 bits are moved, too', async () => {
  const path = await written(withWideOffsets(clip));
  const signedPath = await written(Buffer.concat([clip, manifestBox()]));
  const { manifest } = await videoLayoutOf(signedPath);
  assert.ok(manifest);
  await carryManifest(signedPath, manifest, path);
  const file = await readFile(path);
  assert.deepEqual(typesOf(file), ['ftyp', 'uuid', 'moov', 'free', 'mdat']);
  assert.ok(file.includes('co64') && !file.includes('stco'));
  await decode(file);
  assert.deepEqual(await measured(file), await measured(clip));
});

/** The same video with `co64` instead of `stco`: every list grows by four bytes an offset, and so does each box around it. */
function withWideOffsets(file: Buffer): Buffer {
  return rewritten(file, growthOf(file));
}

const parents = ['moov', 'trak', 'mdia', 'minf', 'stbl'];

function growthOf(bytes: Buffer): number {
  return boxesOf(bytes).reduce((sum, { type, bytes: whole }) => {
    if (parents.includes(type)) return sum + growthOf(whole.subarray(8));
    return type === 'stco' ? sum + 4 * whole.readUInt32BE(12) : sum;
  }, 0);
}

function rewritten(bytes: Buffer, movedBy: number): Buffer {
  return Buffer.concat(
    boxesOf(bytes).map(({ type, bytes: whole }) => {
      if (parents.includes(type)) return box(type, rewritten(whole.subarray(8), movedBy));
      if (type !== 'stco') return whole;
      const offsets = Array.from({ length: whole.readUInt32BE(12) }, (_, index) => {
        const offset = Buffer.alloc(8);
        offset.writeBigUInt64BE(BigInt(whole.readUInt32BE(16 + 4 * index) + movedBy));
        return offset;
      });
      return box('co64', whole.subarray(8, 16), ...offsets);
    }),
  );
}
