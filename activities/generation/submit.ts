import { estimateCost } from '../../src/domain/catalogue/cost.ts';
import { refuseImageSize } from '../../src/domain/catalogue/rules.ts';
import { TaskError } from '../../src/domain/errors.ts';
import type { TaskInput } from '../../src/domain/task-input.ts';
import { detailOf } from '../../src/providers/answers.ts';
import type { JobRequest, PolledProvider, ResultUpload } from '../../src/providers/contract.ts';
import { callOutcomeOf } from '../../src/providers/provider-events.ts';
import type { OpenProvider } from '../../src/providers/registry.ts';
import { spellImageReferences } from '../../src/providers/task-values.ts';
import { intendProviderJob, intendReservedJob, recordProviderJob } from '../../src/stores/provider-jobs.ts';
import { clearStrikes } from '../../src/stores/provider-pools.ts';
import { imageFolderOf, incomingKeyOf } from '../task-files.ts';
import { type Attempt, interrupted } from './attempt.ts';
import { failureIn } from './failures.ts';
import { type JobBase, type JobIn, type Outcome, runningJob, type Stop } from './job.ts';
import { coolDown, failTask, logFields, settleDeclined } from './settle.ts';

// The intent of a create is committed before it, and its outcome after it. Only a response that proves that no job exists lets
// another provider get the task.

/** Commits the intent and sends the create; a job that lives in its request is run by the next step. */
export async function submitJob(attempt: Attempt, job: JobIn<'reserved'>): Promise<Outcome> {
  const { provider } = job.open;
  const invalid = await checkImages(attempt, job);
  if (invalid !== undefined) return invalid;
  if (provider.runs === 'upstream') return await createJob(attempt, job, provider);
  return (await commitIntent(attempt, job)) ?? { kind: 'job', job: { ...job, state: 'held', provider } };
}

async function createJob(attempt: Attempt, job: JobIn<'reserved'>, provider: PolledProvider): Promise<Outcome> {
  const { deps, signal, task } = attempt;
  // Created before the intent, because an error of our store must not be mistaken for a lost response.
  const request = { ...requestFor(attempt, job), ...(await linksFor(attempt, job, provider)) };
  const conflict = await commitIntent(attempt, job);
  if (conflict !== undefined) return conflict;
  if (signal.aborted) return interrupted(attempt);
  const created = await provider
    .submit(request, signal)
    .catch((error: unknown) => ({ kind: 'unknown', invalid: failureIn(error), detail: detailOf({ error }) }) as const);
  if ('invalid' in created && created.invalid !== undefined)
    return await failTask(attempt, job, created.invalid, { outcome: 'refused', cost: 'free' });
  deps.onProviderEvent(provider.name, { kind: 'call', outcome: callOutcomeOf(created) });
  switch (created.kind) {
    case 'accepted':
      return await recordAccepted(attempt, runningJob(task, job, { provider, ...created }));
    case 'not_accepted':
    case 'refused':
      return await settleDeclined(attempt, job, created);
    case 'unknown':
      break;
  }
  deps.log.warn({ ...logFields(job), detail: created.detail }, 'response to a create lost');
  if (!signal.aborted) await coolDown(deps, job, { reason: 'unknown' });
  return { kind: 'next' };
}

/** An invalid image ends the task before anything is sent, and releases the slot. */
async function checkImages(attempt: Attempt, job: JobIn<'reserved'>): Promise<Stop | undefined> {
  try {
    for (const image of await attempt.images()) {
      const refusal = refuseImageSize(job.entry.rules, image);
      if (refusal !== undefined) throw new TaskError('image_invalid', sentenceOf(refusal));
    }
    return undefined;
  } catch (error) {
    const invalid = failureIn(error);
    if (invalid === undefined || job.pool === undefined) throw error;
    return await failTask(attempt, job, invalid, { outcome: 'not_created' });
  }
}

function sentenceOf(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

export function requestFor({ deps, task, images }: Attempt, { open, jobKey, ordinal }: JobBase): JobRequest {
  const { taskId, accountId, deadlineMs } = task;
  const { model, input } = task.param;
  const accountHash = deps.hashAccount(accountId);
  return {
    taskId,
    ordinal,
    accountHash,
    jobKey,
    model,
    input: spelledInput(open, input),
    images,
    imageLinks: [],
    deadlineMs,
  };
}

/** The input with the prompt as the provider reads it, which is also how its list of jobs shows it. */
export function spelledInput({ imageReference }: Pick<OpenProvider, 'imageReference'>, input: TaskInput): TaskInput {
  if (imageReference === undefined) return input;
  return { ...input, prompt: spellImageReferences(input.prompt, input.imageUrls.length, imageReference) };
}

/** Beyond the deadline, up to which an upstream may let a job wait. */
const linkGraceMs = 60 * 60_000;

type Links = Pick<JobRequest, 'imageLinks' | 'resultUpload'>;

async function linksFor(attempt: Attempt, job: JobBase, { images, uploads }: PolledProvider): Promise<Links> {
  const lifeMs = attempt.task.deadlineMs + linkGraceMs;
  const imageLinks = images === 'link' ? await linkImages(attempt, lifeMs) : [];
  const resultUpload = uploads === true ? await linkUpload(attempt, job, lifeMs) : undefined;
  return { imageLinks, ...(resultUpload !== undefined && { resultUpload }) };
}

/** The upstream fetches copies of the checked images, and never the client's own. */
async function linkImages({ deps, task, images }: Attempt, lifeMs: number): Promise<readonly string[]> {
  const folder = imageFolderOf(task.taskId);
  const links: string[] = [];
  for (const [index, { path }] of (await images()).entries()) {
    const key = `${folder}/${index + 1}.jpg`;
    await deps.media.put(key, path);
    links.push(deps.media.link(key, lifeMs));
  }
  return links;
}

/** Undefined where the store cannot be written to by others; the video is then downloaded. */
async function linkUpload({ deps }: Attempt, job: JobBase, lifeMs: number): Promise<ResultUpload | undefined> {
  const expireTime = Date.now() + lifeMs;
  const url = await deps.media.uploadLink(incomingKeyOf(job.taskId, job.jobKey), lifeMs);
  return url === undefined ? undefined : { url, expireTime };
}

/** Commits the intent. The job of a held request has its name from then on. */
export async function commitIntent({ deps, task }: Attempt, job: JobIn<'reserved'>): Promise<Stop | undefined> {
  const { taskId, ordinal, pool, open, entry, jobKey } = job;
  const { provider, stored } = open;
  const own = { taskId, ordinal, jobId: provider.runs === 'upstream' ? undefined : jobKey };
  const cost = entry.cost && estimateCost(entry.cost, { input: task.param.input });
  const isFirst =
    pool === undefined
      ? await intendProviderJob(deps.db, { ...own, jobId: jobKey, provider: provider.name })
      : await intendReservedJob(deps.db, { ...own, pool, config: stored.text, configHash: stored.hash, cost });
  // Another attempt may be creating a job, so no other provider may get the task.
  return isFirst ? undefined : { kind: 'undecided', detail: 'another attempt is creating a job, or the slot was lost' };
}

/** Commits the id of the job. A job whose intent was closed is stopped; the next attempt finds the state of its task. */
export async function recordAccepted(
  { deps, patientSignal, markGenerating }: Attempt,
  job: JobIn<'running'>,
): Promise<Outcome> {
  const { taskId, ordinal, pool, provider, upstream } = job;
  const { id: jobId } = upstream;
  // A handle that was recorded before stays where the provider gives none now.
  const handle = Object.keys(upstream.handle).length > 0 ? upstream.handle : undefined;
  const isWanted = await recordProviderJob(deps.db, { taskId, ordinal, jobId, handle });
  if (!isWanted) {
    await provider.cancel(upstream, patientSignal);
    return { kind: 'undecided', detail: `the request for job ${jobId} had been given up; the job is stopped` };
  }
  if (pool !== undefined) await clearStrikes(deps.db, pool);
  await markGenerating();
  return { kind: 'job', job };
}
