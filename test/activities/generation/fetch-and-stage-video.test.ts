import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { upstreamUploadKeyOf, stagingKeysOf } from '../../../activities/task-file-keys-and-deletion.ts';
import { OutboundError } from '../../../src/platform/outbound/outbound-error.ts';
import { maxVideoBytes } from '../../../src/platform/outbound/resumable-download.ts';
import { copyInstantClip } from '../../../src/providers/preview/preview-provider.ts';
import { type PolledProvider, VideoLostError } from '../../../src/providers/provider-contract.ts';
import type { WorkerParts } from '../../../src/run/main/wire-activities.ts';
import { providerFailures } from '../../../src/tasks/jobs/task-failures-of-jobs.ts';
import { providersOf } from '../../support/tasks/fake-providers.ts';
import { createTestDeadlines } from '../../support/test-deadlines.ts';
import { database, folder, noop, played, prepareGenerations, upstreamOf } from './routing-stage.ts';

prepareGenerations();

// The video of a job that has succeeded: it is downloaded, or its upload is moved.

type Fetched = {
  readonly result?: PolledProvider['result'];
  /** The video is in our store when its job is accepted. */
  readonly isWritten?: boolean;
  /** The upstream says that it has uploaded the video. */
  readonly isUploaded?: boolean;
  /** The size of an upload, by its key, instead of its own. */
  readonly sizeOf?: (key: string, taskId: string) => number | undefined;
  readonly change?: (parts: WorkerParts) => WorkerParts;
  readonly betweenAttempts?: () => Promise<void>;
};

/** Runs a task at an upstream that uploads its videos. Returns its end, what was downloaded and deleted, and what is left of the upload. */
async function fetched({ result, isWritten = false, isUploaded = false, sizeOf, ...given }: Fetched) {
  const { change = (parts: WorkerParts) => parts, betweenAttempts = noop } = given;
  const upstream = upstreamOf('uploads');
  const original = upstream.provider;
  let downloads = 0;
  const deleted: string[] = [];
  const story = await played({
    upstreams: [upstream],
    betweenAttempts,
    change: (parts) => {
      const media: WorkerParts['media'] = {
        ...parts.media,
        sizeOf: async (key) => sizeOf?.(key, upstream.asked[0] ?? '') ?? (await parts.media.sizeOf(key)),
        delete: async (key) => {
          deleted.push(key);
          await parts.media.delete(key);
        },
      };
      const provider: PolledProvider = {
        ...original,
        uploads: true,
        submit: async (request, signal) => {
          if (isWritten) {
            const clip = join(folder, `clip-${request.taskId}`);
            await mkdir(clip);
            const { path } = await copyInstantClip(clip);
            await media.put(upstreamUploadKeyOf(request.taskId, request.jobKey), path);
          }
          return await original.submit(request, signal);
        },
        status: async (jobs, signal) => {
          const statuses = await original.status(jobs, signal);
          return new Map([...statuses].map(([key, status]) => [key, { ...status, ...(isUploaded && { isUploaded }) }]));
        },
        result: async (...asked) => {
          downloads += 1;
          return await (result === undefined ? original.result(...asked) : result(...asked));
        },
      };
      return change({ ...parts, media, providers: providersOf([provider]) });
    },
  });
  const { taskId, end, calls, rows, lines } = story;
  const incoming = upstreamUploadKeyOf(taskId, taskId);
  const staged = stagingKeysOf(taskId).video;
  const names: Readonly<Record<string, string>> = { [incoming]: 'incoming', [staged]: 'staged' };
  const removed = deleted.flatMap((key) => names[key] ?? []);
  const problems = lines.filter(({ level }) => Number(level) >= 40);
  return { taskId, end, calls, detail: rows[0]?.detail, downloads, removed, problems, provider: original.name };
}

const ofIncoming = (bytes: number) => (key: string, taskId: string) =>
  key === upstreamUploadKeyOf(taskId, taskId) ? bytes : undefined;
const success = { end: 'success', calls: ['uploads success'] };
const tooLarge = { end: providerFailures.tooLarge.failCode, calls: ['uploads fail'] };
const lost = () => Promise.reject(new VideoLostError('gone'));

for (const [what, given, expected] of [
  ['a video without an upload is downloaded', {}, { ...success, downloads: 1 }],
  ['an upload that the upstream does not name is not used', { isWritten: true }, { ...success, downloads: 1 }],
  ['an upload is moved', { isWritten: true, isUploaded: true }, { ...success, downloads: 0 }],
  [
    'an upload of the largest size is moved',
    { isWritten: true, isUploaded: true, sizeOf: ofIncoming(maxVideoBytes) },
    { ...success, downloads: 0 },
  ],
  [
    'a larger upload ends the task, and is deleted',
    { isWritten: true, isUploaded: true, sizeOf: ofIncoming(maxVideoBytes + 1) },
    { ...tooLarge, downloads: 0, removed: ['incoming'] },
  ],
  [
    'an upload that is replaced by a larger one before it is moved ends the task, and is deleted',
    {
      isWritten: true,
      isUploaded: true,
      sizeOf: (key: string, taskId: string) => (key === stagingKeysOf(taskId).video ? maxVideoBytes + 1 : undefined),
    },
    { ...tooLarge, downloads: 0, removed: ['staged'] },
  ],
  [
    'a download that is too large ends the task',
    { result: () => Promise.reject(new OutboundError('too_large', '3 GB')) },
    { ...tooLarge, downloads: 1 },
  ],
  [
    'an upload of a video that the upstream has lost is moved',
    { isWritten: true, result: lost },
    { ...success, downloads: 1 },
  ],
  [
    'a video that is lost and was not uploaded ends the task',
    { result: lost },
    { end: 'provider_unavailable', calls: ['uploads abandoned'], downloads: 1 },
  ],
] as const) {
  test(what, async () => {
    const { end, calls, downloads, removed } = await fetched(given);
    // A stored video is deleted from its place in staging.
    const ofTask = removed.filter((name) => end !== 'success' || name !== 'staged');
    assert.deepEqual({ end, calls, downloads, removed: ofTask }, { removed: [], ...expected });
  });
}

test('an upload that is missing is reported, and the video is downloaded', async () => {
  const { taskId, end, downloads, problems, provider } = await fetched({ isUploaded: true });
  assert.deepEqual([end, downloads], ['success', 1]);
  assert.deepEqual(problems, [{ level: 40, taskId, provider, msg: 'uploaded video not found; downloading it' }]);
});

test('a download that fails is repeated by the next attempt, until the deadline has passed once more since the job ended', async () => {
  const deadlines = createTestDeadlines();
  const limits: number[] = [];
  const result: PolledProvider['result'] = async (_job, _result, { signal }) => {
    if (limits.length === 2) throw new Error('connection reset');
    deadlines.pass();
    signal.throwIfAborted();
    return assert.fail('its time is over');
  };
  const change = ({ watches, ...parts }: WorkerParts): WorkerParts => {
    const start: typeof deadlines.startDeadline = (leftMs) => {
      limits.push(leftMs);
      return deadlines.startDeadline(leftMs);
    };
    return { ...parts, watches: { ...watches, startDeadline: start } };
  };
  const betweenAttempts = async () => {
    const text = `update provider_jobs set upstream_ended_at = now() - interval '20 minutes' where outcome is null`;
    await database.db.run({ name: 'test-ended-earlier', text, plannedAnew: true });
  };
  const { taskId, end, calls, problems } = await fetched({ result, change, betweenAttempts });
  assert.deepEqual([end, calls], ['timeout', ['uploads fail']]);
  const [{ err, ...line } = assert.fail(), ...others] = problems;
  assert.deepEqual([line, others], [{ level: 50, taskId, msg: 'paid video not fetched' }, []]);
  assert.match(JSON.stringify(err), /abort/i);
  // Of each attempt, and of the download in it.
  const [, first, , second] = limits;
  assert.equal(first, 30 * 60_000);
  // Ten minutes were left when the row was written; a slow machine may have used some of them.
  assert.ok(Number(second) <= 10 * 60_000 + 1_000 && Number(second) > 5 * 60_000, `${second}`);
});
