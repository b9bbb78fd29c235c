import { estimateCost } from '../../src/domain/catalogue/cost.ts';
import { refuseImageSize } from '../../src/domain/catalogue/rules.ts';
import { TaskFault } from '../../src/domain/errors.ts';
import type { TaskInput } from '../../src/domain/task-input.ts';
import { spellImageReferences } from '../../src/providers/task-values.ts';
import { detailOf } from '../../src/providers/answers.ts';
import type { JobRequest, NotAccepted, PolledProvider, Refused, ResultUpload } from '../../src/providers/contract.ts';
import type { OpenProvider } from '../../src/providers/registry.ts';
import { callOutcomeOf } from '../../src/providers/provider-events.ts';
import { intendReservedJob, recordProviderJob } from '../../src/stores/provider-jobs.ts';
import { clearStrikes, type StrikeReason, strikePool } from '../../src/stores/provider-pools.ts';
import type { ActivityDeps } from '../deps.ts';
import { imageFolderOf, incomingKeyOf } from '../task-files.ts';
import {
  type Attempt,
  type Call,
  deadlinePassed,
  endCall,
  failTask,
  failureFor,
  type NewCall,
  type Pooled,
  unclear,
} from './attempt.ts';

// One call for a job. Its intent is committed before it, and what came of it after it; only an answer that surely means "no job"
// lets another provider be asked.

export type AcceptedJob = { readonly id: string; readonly handle?: object | undefined };

/** The accepted job. Undefined when there is none, or nobody knows; the task's rows tell which. */
export async function submitJob(
  attempt: Attempt,
  call: NewCall,
  provider: PolledProvider,
): Promise<AcceptedJob | undefined> {
  const { deps, signal } = attempt;
  // Before the intent: a fault of our store must not look like a lost answer.
  const imageLinks = provider.images === 'link' ? await linkImages(attempt) : [];
  const resultUpload = provider.uploads === true ? await linkUpload(attempt, call) : undefined;
  const request = {
    ...requestFor(attempt, call),
    imageLinks,
    ...(resultUpload !== undefined && { resultUpload }),
  };
  await intend(attempt, call);
  signal.throwIfAborted();
  const outcome = await provider
    .submit(request, signal)
    .catch((error: unknown) => ({ kind: 'unknown', ...faultIn(error), detail: detailOf({ error }) }) as const);
  if (outcome.kind === 'unknown' && 'fault' in outcome)
    throw await failTask(attempt, call, outcome.fault, { outcome: 'refused', cost: 'free' });
  deps.events.emit({ kind: 'provider_call', provider: provider.name, outcome: callOutcomeOf(outcome) });
  switch (outcome.kind) {
    case 'accepted':
      await recordAccepted(attempt, call, outcome);
      return outcome;
    case 'not_accepted':
    case 'refused':
      await recordDeclined(attempt, call, outcome);
      return undefined;
    case 'unknown':
      break;
  }
  deps.log.warn({ ...logged(call), detail: outcome.detail }, 'answer to a create lost');
  if (!signal.aborted) await strike(deps, call, { reason: 'unknown' });
  return undefined;
}

/** An image that cannot be sent is found before anything is. */
function faultIn(error: unknown) {
  if (!(error instanceof TaskFault) || error.retryable || error === deadlinePassed) return {};
  return { fault: { failCode: error.failCode, failMsg: error.message } };
}

/** A bad image ends the task before anything is asked, and gives its place back. */
export async function checkImages(attempt: Attempt, call: NewCall): Promise<void> {
  try {
    for (const image of await attempt.images()) {
      const refusal = refuseImageSize(call.entry.rules, image);
      if (refusal !== undefined) throw new TaskFault('image_invalid', sentenceOf(refusal));
    }
  } catch (error) {
    if (error instanceof TaskFault && !error.retryable && call.pool !== undefined) {
      const failure = { failCode: error.failCode, failMsg: error.message };
      throw await failTask(attempt, call, failure, { outcome: 'not_created' });
    }
    throw error;
  }
}

/** What the provider is asked for. */
export function requestFor({ deps, task, images, deadlineMs }: Attempt, { open, jobKey, ordinal }: Call): JobRequest {
  const { taskId, accountId } = task;
  const { model, input } = task.param;
  const isHooked = open.provider.runs === 'upstream' && open.provider.webhook;
  return {
    taskId,
    ordinal,
    accountHash: deps.hashAccount(accountId),
    jobKey,
    model,
    input: spelledInput(open, input),
    images,
    imageLinks: [],
    ...(isHooked && { hookUrl: deps.hookUrlOf({ taskId, ordinal }) }),
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

/** Copies of the checked images, which the upstream reads in place of the client's own. */
async function linkImages({ deps, task, images, deadlineMs }: Attempt): Promise<readonly string[]> {
  const folder = imageFolderOf(task.taskId);
  const links: string[] = [];
  for (const [index, { path }] of (await images()).entries()) {
    const key = `${folder}/${index + 1}.jpg`;
    await deps.media.put(key, path);
    links.push(deps.media.link(key, deadlineMs + linkGraceMs));
  }
  return links;
}

/** Undefined where the store cannot be written to by others; the video is then downloaded. */
async function linkUpload({ deps, task, deadlineMs }: Attempt, { jobKey }: Call): Promise<ResultUpload | undefined> {
  const lifeMs = deadlineMs + linkGraceMs;
  const expireTime = Date.now() + lifeMs;
  const url = await deps.media.uploadLink(incomingKeyOf(task.taskId, jobKey), lifeMs);
  return url === undefined ? undefined : { url, expireTime };
}

function sentenceOf(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Commits the intent. The job of a held call has its name from then on. */
export async function intend({ deps, task }: Attempt, call: NewCall): Promise<void> {
  const { taskId, ordinal, pool, open, entry, jobKey } = call;
  if (pool === undefined) throw new Error('a call on our own machine has no place');
  const { text: config, hash: configHash } = open.stored;
  const cost = entry.cost === undefined ? undefined : estimateCost(entry.cost, { input: task.param.input });
  const jobId = open.provider.runs === 'upstream' ? undefined : jobKey;
  const isFirst = await intendReservedJob(deps.db, { taskId, ordinal, pool, config, configHash, jobId, cost });
  // Another attempt may create a job just now, so no other provider is asked either.
  if (!isFirst) throw unclear('another attempt is asking a provider, or the place was lost');
}

/** Commits the id of the job. A job whose intent was closed is stopped; the next attempt finds the state of its task. */
export async function recordAccepted(
  { deps, task, patientSignal, markGenerating }: Attempt,
  { taskId, ordinal, open, jobKey, pool }: Pooled,
  { id, handle }: AcceptedJob,
): Promise<void> {
  const isWanted = await recordProviderJob(deps.db, { taskId, ordinal, jobId: id, handle });
  if (isWanted) {
    if (pool !== undefined) await clearStrikes(deps.db, pool);
    await markGenerating();
    return;
  }
  if (open.provider.runs === 'upstream') {
    // What the provider gave is plain JSON.
    const job = { jobKey, id, handle: (handle ?? {}) as Readonly<Record<string, never>>, input: task.param.input };
    await open.provider.cancel(job, patientSignal);
  }
  throw unclear(`the call for job ${id} had been given up; the job is stopped`);
}

/** The upstream has surely made no job: another provider may be asked, unless the task itself was refused. */
export async function recordDeclined(attempt: Attempt, call: Pooled, declined: NotAccepted | Refused): Promise<void> {
  const { deps, signal, task } = attempt;
  const { taskId, ordinal } = call;
  if (declined.kind === 'not_accepted') {
    const { detail, reason } = declined;
    deps.log.info({ ...logged(call), reason, detail }, 'job not accepted');
    await endCall(deps, { taskId, ordinal, outcome: 'not_created', detail, cost: 'free' });
    // What we broke off says nothing about the provider.
    if (!signal.aborted) await strike(deps, call, declined);
    signal.throwIfAborted();
    return;
  }
  const { detail } = declined.fault;
  deps.log.info({ ...logged(call), fault: declined.fault }, 'job refused');
  // Without images there is nothing else that a create could be refused for.
  const isPrompt = declined.fault.kind === 'content' && task.param.input.imageUrls.length === 0;
  const failure = failureFor(isPrompt ? { ...declined.fault, about: 'prompt' } : declined.fault);
  if (failure !== undefined) throw await failTask(attempt, call, failure, { outcome: 'fail', detail, cost: 'free' });
  await endCall(deps, { taskId, ordinal, outcome: 'refused', detail, cost: 'free' });
}

const [passing, operators] = [
  { baseMs: 5_000, maxMs: 300_000 },
  { baseMs: 3_600_000, maxMs: 86_400_000 },
];

/** A pool that fails takes no task for a while; what only its operator can mend is true for all models of the provider. */
export async function strike(
  { db, log }: ActivityDeps,
  { pool, open }: Pooled,
  { reason, retryAfterMs }: { readonly reason: StrikeReason; readonly retryAfterMs?: number },
): Promise<void> {
  if (pool === undefined) return;
  const provider = open.provider.name;
  const isOfProvider = reason === 'operator';
  if (isOfProvider) log.error({ provider, pool }, 'provider needs its operator');
  const asked = retryAfterMs === undefined ? undefined : { baseMs: retryAfterMs, maxMs: retryAfterMs };
  await strikePool(db, { pool, provider, reason, isOfProvider, ...(asked ?? (isOfProvider ? operators : passing)) });
}

export function logged({ taskId, ordinal, open }: Call) {
  return { taskId, ordinal, provider: open.provider.name };
}
