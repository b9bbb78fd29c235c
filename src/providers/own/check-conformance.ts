import { join } from 'node:path';
import { v4 as uuid } from 'uuid';
import { sha256Of } from '../../media/store/file-hash.ts';
import { runWithDeadline } from '../../platform/outbound/deadlines-and-slots.ts';
import { detailOfAnswerOrError } from '../classify-upstream-answers.ts';
import {
  type Received,
  failed,
  type Finding,
  pass,
  type ConformanceRuleName,
  skipped,
  jobStatusIn,
} from './conformance-rules-and-verdicts.ts';
import {
  type ConformanceRunOptions,
  createConformanceRun,
  followToEnd,
  hasJobStatus,
  verdictOnStatus,
  isFinalRecord,
  verdictOnRecord,
  verdictOnUnknownJob,
  putWhenFree,
  type ConformanceRun,
  stopTimeoutMs,
} from './conformance-requests-and-findings.ts';
import { checkRange, checkDownload } from './conformance-download.ts';

// Plays Videogen's requests, and their failures, against a running server of docs/providers/own.md.

/** Checks the rules one by one and stops the jobs that it has begun. */
export async function checkConformance(check: ConformanceRunOptions): Promise<readonly Finding[]> {
  const run = createConformanceRun(check);
  try {
    if (check.earlierJob === undefined) {
      await checkStrangers(run);
      await checkUnknown(run);
      await checkJob(run);
      await checkCancel(run);
    } else await checkRestarted(run, check.earlierJob);
  } finally {
    await run.stopJobs();
  }
  return run.end();
}

async function checkStrangers({ strangers, bodies, send, test, skip }: ConformanceRun): Promise<void> {
  if (strangers === undefined) return skip(['key-missing', 'key-invalid'], 'no key was given');
  const { keyless, invalid } = strangers;
  await test('key-missing', async () => verdictOnStatus(await send('GET', uuid(), { client: keyless }), [401]));
  await test('key-invalid', async () => {
    const id = uuid();
    const answer = await send('PUT', id, { client: invalid, body: bodies.first });
    return answer.status === 401 ? verdictOnStatus(await send('GET', id), [404]) : failed(answer.came);
  });
}

async function checkUnknown({ bodies, send, test }: ConformanceRun): Promise<void> {
  await test('get-unknown', async () => verdictOnUnknownJob(await send('GET', uuid())));
  await test('video-unknown', async () => verdictOnStatus(await send('GET', uuid(), { path: '/video' }), [404]));
  await test('delete-unknown', async () => {
    const answer = await send('DELETE', uuid());
    return answer.status === 405 || jobStatusIn(answer) === 'canceled' ? pass : verdictOnUnknownJob(answer);
  });
  const isRefused = async (body: string) => {
    const id = uuid();
    const answer = await send('PUT', id, { body });
    if (answer.status !== 400 && answer.status !== 422) return failed(answer.came);
    return verdictOnStatus(await send('GET', id), [404]);
  };
  await test('put-no-json', async () => isRefused(bodies.first.slice(0, -1)));
  await test('put-version', async () => isRefused(otherVersion(bodies.first)));
}

/** A later version may change the meaning of every field, so a server that ignores the version would make another video. */
function otherVersion(body: string): string {
  return JSON.stringify({ ...(JSON.parse(body) as object), version: 1_000_000 });
}

const whileItRuns: readonly ConformanceRuleName[] = ['get-running', 'put-again', 'put-other-body', 'video-early'];
const ofItsVideo: readonly ConformanceRuleName[] = ['video', 'video-plays', 'video-range'];
const ofItsEnd: readonly ConformanceRuleName[] = ['put-ended', 'delete-ended', 'video-stays'];

/** Follows one job to its end, with requests before and after it. */
async function checkJob(run: ConformanceRun): Promise<void> {
  const { send, test, skip, bodies, say } = run;
  const id = uuid();
  const isMade = await test('put', async () => {
    const [answer] = await putWhenFree(run, id);
    return answer === undefined ? pass : verdictOnRecord(answer, [200, 201, 202]);
  });
  if (!isMade) return skip([...whileItRuns, 'succeeds', ...ofItsVideo, ...ofItsEnd], 'no job was made');
  say(`job ${id} was made`);
  const found = await send('GET', id);
  if (isFinalRecord(found)) skip(whileItRuns, 'the job ended too soon');
  await test('get-running', async () => verdictOnRecord(found, [200]));
  await test('put-again', async () => verdictOnRecord(await send('PUT', id, { body: bodies.first }), [200]));
  await test('put-other-body', async () => verdictOnRecord(await send('PUT', id, { body: bodies.other }), [200]));
  await test('video-early', async () => {
    const early = await send('GET', id, { path: '/video' });
    if (early.status === 404) return pass;
    return isFinalRecord(await send('GET', id)) ? skipped('the job ended too soon') : failed(early.came);
  });
  const last = await followToEnd(run, id);
  const status = jobStatusIn(last) ?? '';
  const isOver = run.signal.aborted && !isFinalRecord(last);
  run.record(
    'succeeds',
    status === 'succeeded' ? pass : failed(isOver ? `the time was over; ${last.came}` : last.came),
  );
  if (!isFinalRecord(last)) return skip([...ofItsVideo, ...ofItsEnd], 'the job has not ended');
  await checkEnded(run, id, status);
  skip(['restart'], `restart the server, then check it again with --job ${id}`);
}

/** A job that has ended stays unchanged, and its video can be fetched. */
async function checkEnded(run: ConformanceRun, id: string, status: string): Promise<void> {
  const { send, test, skip, bodies } = run;
  const path = join(run.workFolder, 'video');
  const hasVideo = status === 'succeeded' && (await test('video', () => checkDownload(run, id, path)));
  if (hasVideo) {
    await test('video-plays', async () => {
      return await run.inspect(path, run.signal).then(
        (what) => ({ ...pass, came: what }),
        (error: unknown) => failed(detailOfAnswerOrError({ error })),
      );
    });
    await test('video-range', () => checkRange(run, id, path));
  } else skip(ofItsVideo, 'there is no video');
  const staysEnded = async (answer: Received, others: readonly number[] = []) => {
    if (!others.includes(answer.status ?? 0) && !hasJobStatus(answer, status)) return failed(answer.came);
    const after = await send('GET', id);
    return hasJobStatus(after, status) ? pass : failed(after.came);
  };
  const stays = await test('put-ended', async () => staysEnded(await send('PUT', id, { body: bodies.first })));
  if (!stays) return skip(ofItsEnd, 'the job did not stay as it had ended');
  const isUnchanged = await test('delete-ended', async () => staysEnded(await send('DELETE', id), [405]));
  if (!isUnchanged || !hasVideo) return skip(ofItsEnd, hasVideo ? 'the job was deleted' : 'there is no video');
  await test('video-stays', async () => {
    const again = join(run.workFolder, 'again');
    const verdict = await checkDownload(run, id, again);
    if (verdict.outcome !== 'pass') return verdict;
    return (await sha256Of(again)) === (await sha256Of(path)) ? pass : failed('another file');
  });
}

const ofCancelled: readonly ConformanceRuleName[] = ['cancel-again', 'put-canceled', 'video-canceled'];

/** Creates another job by two concurrent requests, and stops it. */
async function checkCancel(run: ConformanceRun): Promise<void> {
  const { send, test, skip, bodies } = run;
  const id = uuid();
  const isMade = await test('put-twice', async () => {
    const both = await putWhenFree(run, id, 2);
    const invalid = both.map((one) => verdictOnRecord(one, [200, 201, 202])).find(({ outcome }) => outcome === 'fail');
    const isDouble = both.every(({ status }) => status === 201);
    return invalid ?? (isDouble ? failed('201 to both') : pass);
  });
  if (!isMade) return skip(['cancel', ...ofCancelled], 'no job was made');
  if (isFinalRecord(await send('GET', id))) return skip(['cancel', ...ofCancelled], 'the job ended too soon');
  let status = '';
  const isStopped = await test('cancel', async () => {
    const answer = await send('DELETE', id);
    if (answer.status === 405) return skipped('the server cannot stop jobs');
    if (answer.status !== 200 || jobStatusIn(answer) === undefined) return failed(answer.came);
    if (run.signal.aborted) return skipped('the time was over');
    const after = await runWithDeadline(stopTimeoutMs, [run.signal], (signal) => followToEnd({ ...run, signal }, id));
    status = jobStatusIn(after) ?? '';
    if (!isFinalRecord(after) || (isFinalRecord(answer) && jobStatusIn(answer) !== status)) return failed(after.came);
    return pass;
  });
  if (!isStopped) return skip(ofCancelled, 'no job was stopped');
  await test('cancel-again', async () => {
    const answer = await send('DELETE', id);
    return hasJobStatus(answer, status) ? pass : failed(answer.came);
  });
  if (status !== 'canceled') return skip(ofCancelled, 'the job ended before the cancellation');
  await test('put-canceled', async () => {
    const answer = await send('PUT', id, { body: bodies.first });
    if (!hasJobStatus(answer, 'canceled')) return failed(answer.came);
    const after = await send('GET', id);
    return hasJobStatus(after, 'canceled') ? pass : failed(after.came);
  });
  await test('video-canceled', async () => verdictOnStatus(await send('GET', id, { path: '/video' }), [404]));
}

async function checkRestarted(run: ConformanceRun, id: string): Promise<void> {
  const known = await run.send('GET', id);
  await run.test('restart', async () => (isFinalRecord(known) ? pass : failed(known.came)));
  if (isFinalRecord(known)) await checkEnded(run, id, jobStatusIn(known) ?? '');
}
