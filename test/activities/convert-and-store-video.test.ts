import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pino } from 'pino';
import { createCheckAndEndTaskActivity } from '../../activities/end-task.ts';
import { deleteTaskFiles, stagingKeysOf } from '../../activities/task-file-keys-and-deletion.ts';
import {
  createStoreResultActivity,
  storeIfNothingToConvert,
  type StoreResultDeps,
  usablePosterPath,
} from '../../activities/convert-and-store-video.ts';
import { FfmpegError } from '../../src/media/ffmpeg/ffmpeg.ts';
import { ReadTimeoutError } from '../../src/media/video/run-video-reader.ts';
import { sharp } from '../../src/media/pictures/restricted-sharp.ts';
import { createVideoInspector, type VideoInspector } from '../../src/media/video/inspect-and-make-poster.ts';
import { createVideoNormalizer } from '../../src/media/ffmpeg/convert-result-video.ts';
import type { ResultStore } from '../../src/media/store/result-store.ts';
import { copyInstantClip } from '../../src/providers/preview/preview-provider.ts';
import { createDatabase, type Database } from '../../src/platform/database/database.ts';
import type { ConversionBeforeStorage } from '../../src/catalogue/media/conversion-before-storage.ts';
import { pinnedFfmpeg } from '../providers/preview/render-support.ts';
import { assertMeasured } from '../support/assert-since.ts';
import { recordEvents, silentEvents } from '../support/service/metric-event-sinks.ts';
import { createFolderStore } from '../support/folder-store.ts';
import { createBucketStore, type S3Server, skipsWithoutS3, startS3Server } from '../support/servers/s3-server.ts';
import { manifestBox, typesOf, xmpIn } from '../media/boxes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { silentActivity } from '../support/workflows/silent-activity.ts';

const asIs: ConversionBeforeStorage = {
  audio: true,
  fit: 'keep',
  resolution: '720p',
  ratio: 'adaptive',
  lastFrame: false,
};

const killed = (by: { stalled: boolean; timedOut: boolean }) =>
  new FfmpegError({ exitCode: null, killedBy: 'SIGKILL', stderr: '', ...by });

test('a delivered poster is used if it is a file of 4 MiB at most', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'poster.jpg');
  await writeFile(path, '');
  await truncate(path, 4_194_304);
  assert.equal(await usablePosterPath(path), path);
  await truncate(path, 4_194_305);
  for (const unusable of [path, folder, join(folder, 'missing'), undefined])
    assert.equal(await usablePosterPath(unusable), undefined);
});

test('a video with a poster is stored at once, and left to be staged without one or if the store fails', async (t) => {
  const folder = await temporaryFolder(t);
  const clip = await copyInstantClip(folder);
  const events = recordEvents('stage_ended');
  const put: string[] = [];
  const media = { put: async (key: string, path: string) => void put.push(`${key} ${path}`) };
  const result = await storeIfNothingToConvert({ media, events }, 'kept', clip);
  const { videoKey, posterKey, sha256, bytes, ...facts } = result ?? assert.fail();
  const video = await readFile(clip.path);
  assert.deepEqual([sha256, bytes], [hash('sha256', video), video.length]);
  assert.deepEqual([facts.widthPx, facts.heightPx, facts.hasAudio], [1280, 720, true]);
  assert.deepEqual(put, [`${videoKey} ${clip.path}`, `${posterKey} ${clip.posterPath}`]);
  assert.deepEqual(
    events.seen.map(({ stage }) => stage),
    ['store'],
  );
  const broken = { put: () => Promise.reject(new Error('the store is full')) };
  assert.equal(await storeIfNothingToConvert({ media: broken, events }, 'kept', clip), undefined);
  assert.equal(await storeIfNothingToConvert({ media, events }, 'kept', { path: clip.path }), undefined);
  assert.deepEqual([put.length, events.seen.length], [2, 1]);
});

describeStoring('a folder', false);
describeStoring('a bucket', skipsWithoutS3);

function describeStoring(kind: 'a folder' | 'a bucket', skip: string | false): void {
  describe(`storing a result in ${kind}`, { skip }, () => {
    /** The folder of the store. */
    let folder: string;
    let server: S3Server | undefined;
    let scratch: string;
    let db: Database;
    let deps: Omit<StoreResultDeps, 'media'> & { readonly media: ResultStore };
    let posters: number;
    before(async () => {
      scratch = await mkdtemp(join(tmpdir(), 'videogen-store-result-'));
      if (kind === 'a bucket') server = await startS3Server();
      folder = server?.folder ?? scratch;
      // No test queries the database.
      db = createDatabase({ url: 'postgres://127.0.0.1:1/none' });
      const inspect = createVideoInspector(async (run) => {
        posters += 1;
        await pinnedFfmpeg()(run);
      });
      const normalizeVideo = createVideoNormalizer(pinnedFfmpeg());
      const media = server === undefined ? createFolderStore(scratch) : createBucketStore(server);
      const machine = { workFolder: join(scratch, '.work') };
      deps = {
        db,
        media,
        normalizeVideo,
        inspectVideo: inspect,
        serviceName: 'Videogen',
        machine,
        events: silentEvents,
      };
    });
    after(async () => {
      await db.close();
      await server?.close();
      await rm(scratch, { recursive: true });
    });

    /** Stages a clip as `generateVideo` does; answers what is in it. */
    async function staged(taskId: string, changedPoster?: string) {
      const { video: key, poster: posterKey } = stagingKeysOf(taskId);
      const work = await mkdtemp(join(tmpdir(), 'videogen-staged-'));
      const { path, posterPath } = await copyInstantClip(work);
      if (changedPoster !== undefined) await writeFile(posterPath, changedPoster);
      await deps.media.put(key, path);
      await deps.media.put(posterKey, posterPath);
      const files = { video: await readFile(path), poster: await readFile(posterPath) };
      await rm(work, { recursive: true });
      posters = 0;
      return { order: { taskId }, keys: { key, posterKey }, files };
    }

    const store = (order: Parameters<ReturnType<typeof createStoreResultActivity>>[0]) =>
      silentActivity({ workflowId: order.taskId }, () => createStoreResultActivity(deps)(order));
    const stored = (key: string) => readFile(join(folder, key));
    const keysOf = async (taskId: string) =>
      (await readdir(folder, { recursive: true })).filter((name) => name.includes(`${taskId}/`)).toSorted();

    test('the poster that came with the video becomes the poster; nothing stays staged or in the work folder', async () => {
      const { order, files } = await staged('with-poster');
      const events = recordEvents('stage_ended');
      const startedAt = performance.now();
      const { videoKey, posterKey } = await silentActivity({ workflowId: order.taskId }, () =>
        createStoreResultActivity({ ...deps, events })(order),
      );
      const [stage, ...others] = events.seen;
      assert.deepEqual([stage?.stage, others], ['store', []]);
      assertMeasured(startedAt, stage?.durationMs ?? NaN);
      assert.deepEqual(await stored(videoKey), files.video);
      assert.deepEqual(await stored(posterKey), files.poster);
      assert.deepEqual(await keysOf('with-poster'), [posterKey, videoKey]);
      assert.deepEqual(await readdir(deps.machine.workFolder), []);
      assert.equal(posters, 0);
    });

    test('an invalid delivered poster is replaced by one made from the video, and deleted', async () => {
      const { order, files } = await staged('bad-poster', '<html>gone</html>');
      const { videoKey, posterKey } = await store(order);
      assert.equal((await stored(posterKey)).readUInt16BE(0), 0xff_d8);
      assert.deepEqual(await stored(videoKey), files.video);
      assert.deepEqual(await keysOf('bad-poster'), [posterKey, videoKey]);
      assert.equal(posters, 1);
    });

    test('a video that was delivered without a poster gets one made', async () => {
      const { order, keys } = await staged('no-poster');
      await deps.media.delete(keys.posterKey);
      const { videoKey, posterKey } = await store(order);
      assert.deepEqual(await keysOf('no-poster'), [posterKey, videoKey]);
      assert.equal(posters, 1);
    });

    test('a step whose answer was lost is repeated with the same answer and the same files', async () => {
      for (const poster of [undefined, 'none']) {
        const { order } = await staged(`repeated-${poster ?? 'delivered'}`, poster);
        const first = await store(order);
        const files = [await stored(first.videoKey), await stored(first.posterKey)];
        assert.deepEqual(await store(order), first);
        assert.deepEqual([await stored(first.videoKey), await stored(first.posterKey)], files);
        assert.deepEqual(await keysOf(order.taskId), [first.posterKey, first.videoKey]);
        assert.equal(posters, poster === undefined ? 0 : 1, 'the poster that was made is not made again');
      }
    });

    test('a video is converted to the form that its task requires, also when the step is repeated', async () => {
      for (const [form, sizeAndSound, postersMade] of [
        [{ ...asIs, audio: false }, [1280, 720, false], 0],
        [{ ...asIs, fit: 'convert', ratio: '9:16' }, [720, 1280, true], 1],
      ] as const) {
        const { order } = await staged(`form-${form.fit}`);
        const converted = { ...order, form };
        const first = await store(converted);
        assert.deepEqual([first.widthPx, first.heightPx, first.hasAudio], sizeAndSound);
        assert.equal(hash('sha256', await stored(first.videoKey)), first.sha256);
        assert.deepEqual(await store(converted), first);
        assert.deepEqual(await keysOf(order.taskId), [first.posterKey, first.videoKey]);
        assert.equal(posters, postersMade, 'a poster of another size is replaced');
      }
    });

    test('a video that already has the required form is stored byte for byte', async () => {
      const { order, files } = await staged('as-is');
      const form = { ...asIs, fit: 'convert', ratio: '16:9' } as const;
      const { videoKey } = await store({ ...order, form });
      assert.deepEqual(await stored(videoKey), files.video);
    });

    test('a video is marked before it is measured, also when the step is repeated; one stored as it was signed is not', async () => {
      const form = { ...asIs, mark: { model: 'studio' } };
      const silent = { ...form, audio: false };
      const plain = ['ftyp', 'moov', 'free', 'mdat'];
      for (const [name, isSigned, ordered, types, isMarked] of [
        ['marked', false, form, [...plain, 'uuid'], true],
        ['converted', false, silent, [...plain, 'uuid'], true],
        ['signed', true, form, [...plain, 'uuid'], false],
        ['signed-and-converted', true, silent, ['ftyp', 'uuid', ...plain.slice(1), 'uuid'], true],
      ] as const) {
        const { order, keys, files } = await staged(name);
        const delivered = isSigned ? Buffer.concat([files.video, manifestBox()]) : files.video;
        const path = join(scratch, `${name}.mp4`);
        await writeFile(path, delivered);
        await deps.media.put(keys.key, path);
        const marking = { ...order, form: ordered };
        const first = await store(marking);
        const video = await stored(first.videoKey);
        assert.deepEqual(typesOf(video), types, name);
        assert.equal(xmpIn(video)?.includes(`urn:uuid:${name}"`) ?? false, isMarked, name);
        if (!isMarked) assert.deepEqual(video, delivered);
        assert.deepEqual([hash('sha256', video), video.length], [first.sha256, first.bytes]);
        assert.deepEqual(await store(marking), first);
        assert.deepEqual(await stored(first.videoKey), video);
      }
    });

    test('a video of 1248x704 that is not converted is stored and measured as it is', async () => {
      const { keys } = await staged('own-size');
      const path = join(scratch, 'own-size.mp4');
      const source = ['-f', 'lavfi', '-i', 'color=size=1248x704:rate=24:duration=0.5'];
      const args = [...source, '-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-movflags', '+faststart', path];
      await pinnedFfmpeg()({ args, cwd: scratch, signal: new AbortController().signal });
      await deps.media.put(keys.key, path);
      const { videoKey, ...measured } = await store({ taskId: 'own-size', form: asIs });
      const { widthPx, heightPx, durationSeconds, hasAudio } = measured;
      assert.deepEqual([widthPx, heightPx, durationSeconds, hasAudio], [1248, 704, 0.5, false]);
      assert.deepEqual(await stored(videoKey), await readFile(path));
    });

    test('the last frame is stored beside the video for models that say so, also when the step is repeated', async () => {
      const { order } = await staged('last-frame');
      const form = { ...asIs, lastFrame: true };
      const first = await store({ ...order, form });
      const { lastFrameKey = assert.fail(), posterKey, videoKey } = first;
      const { width, height } = await sharp(await stored(lastFrameKey)).metadata();
      assert.deepEqual([width, height], [1280, 720]);
      const keys = [lastFrameKey, posterKey, videoKey];
      assert.deepEqual(await keysOf('last-frame'), keys);
      const bytes = await stored(lastFrameKey);
      assert.deepEqual(await store({ ...order, form }), first);
      assert.deepEqual(await stored(lastFrameKey), bytes);
      await deleteTaskFiles(deps.media, 'last-frame');
      assert.deepEqual(await keysOf('last-frame'), []);
    });

    test('what cannot be made a video ends the task, and nothing of it is stored', async () => {
      const { order, keys } = await staged('no-video');
      const text = join(scratch, 'text');
      await writeFile(text, '#EXTM3U\n/etc/passwd\n');
      await deps.media.put(keys.key, text);
      const storing = store({ ...order, form: asIs });
      await assert.rejects(storing, { type: 'result_invalid', nonRetryable: true });
      assert.deepEqual(await keysOf('no-video'), [keys.posterKey, keys.key]);
    });

    /** Returns an activity's attempt whose conversion fails, with the heartbeat of the one before. */
    async function failingAttempt(taskId: string, failure: Error): Promise<() => Promise<unknown>> {
      const { order } = await staged(taskId);
      const normalizeVideo = () => Promise.reject(failure);
      let heartbeatDetails: unknown;
      return () =>
        silentActivity(
          { workflowId: order.taskId, heartbeatDetails, onHeartbeat: (details) => (heartbeatDetails = details) },
          () => createStoreResultActivity({ ...deps, normalizeVideo })({ ...order, form: asIs }),
        );
    }
    for (const failure of [killed({ stalled: false, timedOut: true }), new ReadTimeoutError('too late')]) {
      test(`a conversion that times out with ${failure.name} is tried three times, and then ends the task`, async () => {
        const attempt = await failingAttempt(`slow-${failure.name}`, failure);
        await assert.rejects(attempt(), failure);
        await assert.rejects(attempt(), failure);
        await assert.rejects(attempt(), { type: 'result_invalid', nonRetryable: true });
      });
    }

    test('a conversion that stalls is retried, because the volume may hang', async () => {
      const failure = killed({ stalled: true, timedOut: false });
      const attempt = await failingAttempt('stalled-conversion', failure);
      for (let count = 0; count < 4; count += 1) await assert.rejects(attempt(), failure);
    });

    test('a result with another task’s keys is neither shown nor deleted, and ends the task', async () => {
      const { order } = await staged('shown');
      const result = await store(order);
      const completing = silentActivity({ workflowId: 'thief' }, () =>
        createCheckAndEndTaskActivity({ ...deps, log: pino({ level: 'silent' }) })({ taskId: 'thief', result }),
      );
      await assert.rejects(completing, { type: 'result_invalid', nonRetryable: true });
      assert.deepEqual(await keysOf('shown'), [result.posterKey, result.videoKey]);
    });

    test('an attempt that its successor has overtaken changes none of the stored files', async () => {
      const { order, keys, files } = await staged('overtaken');
      let release = () => {};
      const held = new Promise<void>((resolve) => (release = resolve));
      let overtaken: Promise<unknown> | undefined;
      await new Promise<void>((resolve) => {
        const inspectVideo: VideoInspector = async (inspection) => {
          const facts = await deps.inspectVideo(inspection);
          resolve();
          await held;
          return facts;
        };
        overtaken = silentActivity({ workflowId: order.taskId }, () =>
          createStoreResultActivity({ ...deps, inspectVideo })(order),
        );
      });
      // The successor has another video of the same job, such as one that was converted or delivered again.
      const other = join(scratch, 'other.mp4');
      await writeFile(other, Buffer.concat([files.video, Buffer.from('\0\0\0\x08free', 'latin1')]));
      await deps.media.put(keys.key, other);
      const result = await store(order);
      release();
      await overtaken;
      const video = await stored(result.videoKey);
      assert.equal(hash('sha256', video), result.sha256);
      assert.deepEqual(video, await readFile(other));
      await deleteTaskFiles(deps.media, order.taskId);
      assert.deepEqual(await keysOf(order.taskId), []);
    });

    test('a lost video ends the task, also if a poster exists', async () => {
      const { order, keys } = await staged('lost');
      await deps.media.delete(keys.key);
      await assert.rejects(store(order), { type: 'result_invalid', nonRetryable: true });
    });
  });
}
