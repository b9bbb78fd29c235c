import { estimateCost } from '../../src/catalogue/prices/upstream-cost.ts';
import { imageSizeRefusal } from '../../src/catalogue/models/input-rules.ts';
import { extname } from 'node:path';
import timers from 'node:timers/promises';
import { DatabaseUnavailableError } from '../../src/platform/database/database.ts';
import { TaskError } from '../../src/catalogue/tasks/task-error.ts';
import { type MediaLinks, type MediaRole, noMedia } from '../../src/catalogue/media/media-by-role.ts';
import type { TaskInput } from '../../src/catalogue/input/task-input.ts';
import { detailOfAnswerOrError } from '../../src/providers/classify-upstream-answers.ts';
import type { JobRequest, PolledProvider } from '../../src/providers/provider-contract.ts';
import { mediaOfRoles, imagesAndFramesOf } from '../../src/providers/requests/media-by-role-and-data-urls.ts';
import { submitOutcomeLabelOf } from '../../src/providers/provider-events.ts';
import type { ProviderWithTermsAndPoller } from '../../src/providers/open-providers.ts';
import { spellImageReferences } from '../../src/providers/requests/placeholder-values-and-template-media.ts';
import {
  intendOwnMachineJob,
  intendReservedJob,
  recordUnusableCreateResponse,
  recordCreatedJob,
} from '../../src/tasks/jobs/job-creates.ts';
import { closeBreaker } from '../../src/tasks/jobs/provider-pools-and-switches.ts';
import { referenceFolderOf, upstreamUploadKeyOf } from '../task-file-keys-and-deletion.ts';
import {
  type GenerationAttempt,
  attemptEndAfterAbort,
  markGenerating,
  withJobCreateGrace,
  type StepOutcome,
} from './attempt-at-generation.ts';
import { finalTaskFailureOf } from '../../src/catalogue/tasks/task-error.ts';
import {
  type JobBase,
  type JobInState,
  asRunningJob,
  type AttemptEndWithoutVideo,
} from '../../src/tasks/jobs/job-of-attempt-types.ts';
import { coolDown, endJobAndRecordTaskFailure, jobLogFields } from '../../src/tasks/jobs/end-job-and-decide-next.ts';
import { endJobDeclinedUpstream, withFinalRequestLimit } from './end-declined-or-stop-cancelled-job.ts';

// The intent of a create is committed before it, and its outcome after it. After a create, only a response that proves that
// no job exists lets another provider get the task.

/** Commits the intent and sends the create; a job that lives in its request is run by the next step. */
export async function submitJob(attempt: GenerationAttempt, job: JobInState<'reserved'>): Promise<StepOutcome> {
  const { provider } = job.open;
  const invalid = await checkImages(attempt, job);
  if (invalid !== undefined) return invalid;
  if (provider.runs === 'upstream') return await createJob(attempt, job, provider);
  return (await commitIntent(attempt, job)) ?? { kind: 'job', job: { ...job, state: 'in_request', provider } };
}

/** An invalid image ends the task before anything is sent, and releases the slot. */
async function checkImages(
  attempt: GenerationAttempt,
  job: JobInState<'reserved'>,
): Promise<AttemptEndWithoutVideo | undefined> {
  try {
    for (const image of imagesAndFramesOf(await attempt.media())) {
      const refusal = imageSizeRefusal(job.entry.rules, image);
      if (refusal !== undefined)
        throw new TaskError('image_invalid', `${refusal.charAt(0).toUpperCase()}${refusal.slice(1)}.`);
    }
    return undefined;
  } catch (error) {
    const invalid = finalTaskFailureOf(error);
    if (invalid === undefined || job.pool === undefined) throw error;
    return await endJobAndRecordTaskFailure(attempt, job, invalid, { outcome: 'not_created' });
  }
}

async function createJob(
  attempt: GenerationAttempt,
  job: JobInState<'reserved'>,
  provider: PolledProvider,
): Promise<StepOutcome> {
  const { signal, signalWithoutDeadline } = attempt;
  // Built before the intent, because an error of our store must not be mistaken for a lost response.
  const request = { ...jobRequestFor(attempt, job), ...(await linksFor(attempt, job, provider)) };
  const conflict = await commitIntent(attempt, job);
  if (conflict !== undefined) return conflict;
  if (signal.aborted) return attemptEndAfterAbort(attempt);
  // One grace time covers the create and the record of its job, so that a cancelled attempt ends ten seconds later at most.
  return await withJobCreateGrace(attempt, signalWithoutDeadline, (late) =>
    sendCreate(attempt, { ...job, provider }, request, late),
  );
}

async function sendCreate(
  attempt: GenerationAttempt,
  { provider, ...job }: JobInState<'reserved'> & { readonly provider: PolledProvider },
  request: JobRequest,
  late: AbortSignal,
): Promise<StepOutcome> {
  const { deps, signal, task } = attempt;
  const created = await withJobCreateGrace(attempt, signal, (limit) => provider.submit(request, limit)).catch(
    (error: unknown) =>
      ({ kind: 'unknown', invalid: finalTaskFailureOf(error), detail: detailOfAnswerOrError({ error }) }) as const,
  );
  if ('invalid' in created && created.invalid !== undefined)
    return await endJobAndRecordTaskFailure(attempt, job, created.invalid, { outcome: 'refused', cost: 'free' });
  deps.events.emit({ kind: 'provider_call', provider: provider.name, outcome: submitOutcomeLabelOf(created) });
  if (created.kind === 'accepted')
    return await recordAcceptedJob(attempt, asRunningJob(task, job, { provider, ...created }), late);
  if (created.kind !== 'unknown') return await endJobDeclinedUpstream(attempt, job, created);
  deps.log.warn({ ...jobLogFields(job), detail: created.detail }, 'response to a create lost');
  // It is for readers only, so its failure must not replace the outcome.
  await recordUnusableCreateResponse(deps.db, job, created.detail).catch(() => undefined);
  if (!signal.aborted) await coolDown(deps, job, { reason: 'unknown' });
  return { kind: 'next' };
}

export function jobRequestFor(
  { deps, task, media }: GenerationAttempt,
  { open, jobKey, ordinal }: JobBase,
): JobRequest {
  const { taskId, accountId, deadlineMs, param } = task;
  const [accountHash] = deps.hashAccount(accountId);
  const input = inputWithSpelledReferences(open, param.input);
  return { taskId, ordinal, accountHash, jobKey, model: param.model, input, media, mediaLinks: noMedia, deadlineMs };
}

/** Spells the prompt as the provider reads it, which is also how its list of jobs shows it. */
export function inputWithSpelledReferences(
  { imageReference }: Pick<ProviderWithTermsAndPoller, 'imageReference'>,
  input: TaskInput,
): TaskInput {
  if (imageReference === undefined) return input;
  return { ...input, prompt: spellImageReferences(input.prompt, input.imageUrls.length, imageReference) };
}

/** Added to the deadline, because an upstream may let a job wait until the deadline before it fetches the media. */
export const linkGraceMs = 60 * 60_000;

async function linksFor(
  { deps, task, media }: GenerationAttempt,
  { taskId, jobKey }: JobBase,
  provider: PolledProvider,
): Promise<Pick<JobRequest, 'mediaLinks' | 'resultUpload'>> {
  const lifeMs = task.deadlineMs + linkGraceMs;
  const expireTime = Date.now() + lifeMs;
  // The upstream fetches copies of the checked media, and never the client's own.
  const linkTo = async (name: string, { path }: { readonly path: string }) => {
    const key = `${referenceFolderOf(taskId)}/${name}${extname(path)}`;
    await deps.media.put(key, path);
    return deps.media.link(key, lifeMs);
  };
  const mediaLinks = await linksTo(provider, media, linkTo);
  // A store that others cannot write to has no upload links; the video is then downloaded.
  const url =
    provider.uploads === true ? await deps.media.uploadLink(upstreamUploadKeyOf(taskId, jobKey), lifeMs) : undefined;
  return { mediaLinks, ...(url !== undefined && { resultUpload: { url, expireTime } }) };
}

/** Stores the media of the kinds that the upstream fetches, one after the other. */
async function linksTo(
  { images: imagesBy, clips: clipsBy = 'file' }: Pick<PolledProvider, 'images' | 'clips'>,
  read: GenerationAttempt['media'],
  linkTo: (name: string, file: { readonly path: string }) => Promise<string>,
): Promise<MediaLinks> {
  if (imagesBy === 'file' && clipsBy === 'file') return noMedia;
  const isLinked = (role: MediaRole) => (role === 'videos' || role === 'audios' ? clipsBy : imagesBy) === 'link';
  const { images, firstFrame, lastFrame, videos, audios } = mediaOfRoles(await read(), isLinked);
  const linksOf = async (name: string, files: readonly { readonly path: string }[]) => {
    const links: string[] = [];
    for (const [index, file] of files.entries()) links.push(await linkTo(`${name}${index + 1}`, file));
    return links;
  };
  return {
    images: await linksOf('', images),
    firstFrame: firstFrame && (await linkTo('first-frame-1', firstFrame)),
    lastFrame: lastFrame && (await linkTo('last-frame-1', lastFrame)),
    videos: await linksOf('video-', videos),
    audios: await linksOf('audio-', audios),
  };
}

/** Commits the intent. A job that runs inside its request (preview, cog) gets its id with it. */
export async function commitIntent(
  { deps, task }: GenerationAttempt,
  job: JobInState<'reserved'>,
): Promise<AttemptEndWithoutVideo | undefined> {
  const { taskId, ordinal, pool, open, entry, jobKey } = job;
  const { provider, stored } = open;
  const row = { taskId, ordinal, jobId: provider.runs === 'upstream' ? undefined : jobKey };
  const cost = entry.cost && estimateCost(entry.cost, { input: task.param.input });
  const config = { config: stored.text, configHash: stored.hash };
  const intended =
    pool === undefined
      ? await intendOwnMachineJob(deps.db, { taskId, ordinal, jobId: jobKey, provider: provider.name })
      : await intendReservedJob(deps.db, { ...row, ...config, pool, cost });
  // Another attempt may be creating a job, so no other provider may get the task.
  if (intended !== undefined) return undefined;
  return { kind: 'undecided', detail: 'another attempt is creating a job, the slot was lost, or the task has ended' };
}

/**
 * Commits the id of the job, and retries until `late` is aborted. A job whose intent was abandoned is stopped; the next attempt reads the
 * state of its task.
 */
export async function recordAcceptedJob(
  attempt: GenerationAttempt,
  job: JobInState<'running'>,
  late: AbortSignal,
): Promise<StepOutcome> {
  const { deps } = attempt;
  const { taskId, ordinal, pool, provider, upstream } = job;
  const { id: jobId } = upstream;
  // A handle that was recorded before stays if the provider returns none now.
  const handle = Object.keys(upstream.handle).length > 0 ? upstream.handle : undefined;
  const submitted = { taskId, ordinal, jobId, handle, isNamed: provider.namesJobs };
  const recorded = await whenAvailable(late, () => recordCreatedJob(deps.db, submitted));
  if (recorded === 'repeated')
    return { kind: 'undecided', detail: `job ${jobId} was found by another attempt, which has sent its request again` };
  if (recorded === 'abandoned') {
    await withFinalRequestLimit((signal) => provider.cancel(upstream, signal));
    return { kind: 'undecided', detail: `job ${jobId} was stopped, because its request had been abandoned` };
  }
  if (pool !== undefined) await closeBreaker(deps.db, pool);
  await markGenerating(attempt);
  return { kind: 'job', job };
}

/** The pause between two attempts to record a job while the database is unavailable. */
const recordPauseMs = 1_000;

/** Waits for the database, because the id of a job that is paid for is known to this attempt only. */
async function whenAvailable<Value>(signal: AbortSignal, record: () => Promise<Value>): Promise<Value> {
  for (;;) {
    try {
      return await record();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError) || signal.aborted) throw error;
      await timers.setTimeout(recordPauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
