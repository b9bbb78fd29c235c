import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { createStoreResultActivity, type StoreResultDeps } from '../../../activities/convert-and-store-video.ts';
import { stagingKeysOf } from '../../../activities/task-file-keys-and-deletion.ts';
import { createVideoInspector } from '../../../src/media/video/inspect-and-make-poster.ts';
import { aiSourceType } from '../../../src/media/video/label-as-generated.ts';
import { createVideoNormalizer } from '../../../src/media/ffmpeg/convert-result-video.ts';
import { createDatabase, type Database } from '../../../src/platform/database/database.ts';
import type { ConversionBeforeStorage } from '../../../src/catalogue/media/conversion-before-storage.ts';
import { fakeVideoPath } from '../../fakes/restartable-server.ts';
import { pinnedFfmpeg } from '../../providers/preview/render-support.ts';
import { silentEvents } from '../../support/service/metric-event-sinks.ts';
import { createFolderStore } from '../../support/folder-store.ts';
import { nodeModulesWith, pythonWith } from '../../support/processes/installed-packages.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';
import { xmpBox } from '../boxes.ts';

// Readers that others made judge what is stored: the reference validator of C2PA, ffprobe and ExifTool.

const run = promisify(execFile);
const program = join(import.meta.dirname, '../../../../test/media/ffmpeg/content-credentials.py');
const form: ConversionBeforeStorage = {
  audio: true,
  fit: 'keep',
  resolution: '720p',
  ratio: 'adaptive',
  lastFrame: false,
  mark: { model: 'studio/film' },
};

type Finding = { readonly state: string; readonly codes: readonly string[]; readonly isAi: boolean };

describe('the origin of stored videos', () => {
  let folder: string;
  let python: string;
  let db: Database;
  let deps: StoreResultDeps;
  let signed: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-provenance-'));
    python = await pythonWith('c2pa-python==0.38.1', 'cryptography==50.0.2');
    // No test queries the database.
    db = createDatabase({ url: 'postgres://127.0.0.1:1/none' });
    const [normalizeVideo, inspectVideo] = [
      createVideoNormalizer(pinnedFfmpeg()),
      createVideoInspector(pinnedFfmpeg()),
    ];
    const machine = { workFolder: join(folder, '.work') };
    const media = createFolderStore(folder);
    deps = { db, media, normalizeVideo, inspectVideo, serviceName: 'Videogen', machine, events: silentEvents };
    signed = await signedCopy(fakeVideoPath, 'signed');
  });
  after(async () => {
    await db.close();
    await rm(folder, { recursive: true });
  });

  async function signedCopy(source: string, name: string): Promise<string> {
    const target = join(folder, `${name}.mp4`);
    await run(python, [program, 'sign', source, target]);
    return target;
  }

  async function found(...paths: readonly string[]): Promise<readonly Finding[]> {
    const { stdout } = await run(python, [program, 'read', ...paths]);
    return JSON.parse(stdout) as readonly Finding[]; // of the program
  }

  /** Stores a video as the last step of a task does, and returns the path of the file. */
  async function stored(taskId: string, source: string, more: Partial<ConversionBeforeStorage> = {}): Promise<string> {
    await deps.media.put(stagingKeysOf(taskId).video, source);
    const { videoKey } = await silentActivity({ workflowId: taskId }, () =>
      createStoreResultActivity(deps)({ taskId, form: { ...form, ...more } }),
    );
    return join(folder, videoKey);
  }

  const untrusted = 'signingCredential.untrusted';
  const valid: Finding = { state: 'Valid', codes: [untrusted], isAi: true };
  /** The manifest and its signature are whole; the bytes of the video are not the signed ones. */
  const changed: Finding = { state: 'Invalid', codes: [untrusted, 'assertion.bmffHash.mismatch'], isAi: true };

  test('a signed video that fits is stored byte for byte, and is as valid as before', async () => {
    const path = await stored('fits', signed);
    assert.deepEqual(await readFile(path), await readFile(signed));
    assert.deepEqual(await found(signed, path), [valid, valid]);
  });

  test('a signed video with its index at the end stays valid, because it is not rewritten', async () => {
    const plain = join(folder, 'index-last-unsigned.mp4');
    await pinnedFfmpeg()({
      args: ['-i', fakeVideoPath, '-c', 'copy', plain],
      cwd: folder,
      signal: new AbortController().signal,
    });
    const source = await signedCopy(plain, 'index-last');
    const path = await stored('index-last', source);
    assert.deepEqual(await readFile(path), await readFile(source));
    assert.deepEqual(await found(path), [valid]);
  });

  test('a conversion keeps the manifest and its signature, and validators report that the bytes have changed', async () => {
    const paths = [
      await stored('silent', signed, { audio: false }),
      await stored('scaled', signed, { fit: 'convert', ratio: '9:16' }),
    ];
    assert.deepEqual(await found(...paths), [changed, changed]);
  });

  test('a mark behind a signed video would break it, and ffmpeg would drop its manifest', async () => {
    const marked = join(folder, 'marked-after-signing.mp4');
    await writeFile(marked, Buffer.concat([await readFile(signed), xmpBox('<x/>')]));
    const remuxed = join(folder, 'remuxed.mp4');
    const args = ['-i', signed, '-c', 'copy', '-movflags', '+faststart', remuxed];
    await pinnedFfmpeg()({ args, cwd: folder, signal: new AbortController().signal });
    assert.deepEqual(await found(marked, remuxed), [
      changed,
      { state: 'none', codes: ['C2paManifestNotFound'], isAi: false },
    ]);
  });

  test('ExifTool reads the mark, and ffprobe the video around it', { skip: skipsReaders() }, async () => {
    const modules = await nodeModulesWith('exiftool-vendored.pl@13.59.3', '@ffprobe-installer/linux-x64@5.2.0');
    const taskId = '018f0000-0000-7000-8000-000000000001';
    const path = await stored(taskId, fakeVideoPath);
    const exiftool = join(modules, 'exiftool-vendored.pl/bin/exiftool');
    const { stdout: tags } = await run('perl', [exiftool, '-json', '-G1', '-XMP:all', '-Error', '-Warning', path]);
    const [{ SourceFile: _path, ...read }] = JSON.parse(tags) as [Record<string, unknown>]; // one for each file
    assert.deepEqual(read, {
      'XMP-dc:Identifier': `urn:uuid:${taskId}`,
      'XMP-xmp:CreatorTool': 'Videogen',
      'XMP-iptcExt:AISystemUsed': 'studio/film',
      'XMP-iptcExt:DigitalSourceType': aiSourceType,
    });
    const ffprobe = join(modules, '@ffprobe-installer/linux-x64/ffprobe');
    await chmod(ffprobe, 0o755);
    const show = [
      '-v',
      'warning',
      '-count_packets',
      '-show_entries',
      'stream=codec_name,nb_read_packets',
      '-of',
      'csv=p=0',
    ];
    const probe = async (file: string) => {
      const { stdout, stderr } = await run(ffprobe, [...show, file]);
      assert.equal(stderr, '');
      return stdout;
    };
    assert.equal(await probe(path), await probe(fakeVideoPath));
    assert.match(await probe(path), /^h264,\d+\naac,\d+\n$/);
  });
});

function skipsReaders(): string | false {
  const isHere = process.platform === 'linux' && process.arch === 'x64';
  return isHere ? false : 'the package of ffprobe is that of another platform';
}
