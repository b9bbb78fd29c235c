import { CancelledFailure, Context } from '@temporalio/activity';
import pTimeout from 'p-timeout';
import { setTimeout as delay } from 'node:timers/promises';
import { estimateCost } from '../../src/domain/catalogue/cost.ts';
import { OutboundError } from '../../src/outbound/outbound-error.ts';
import { maxVideoBytes } from '../../src/outbound/resumable-download.ts';
import type { CancelOutcome, Cost, Fault, Job, JobStatus, PolledProvider } from '../../src/providers/contract.ts';
import type { Ended } from '../../src/providers/followed-job.ts';
import { type ProviderJob, recordUpstreamEnd } from '../../src/stores/provider-jobs.ts';
import { touchGenerations } from '../../src/stores/tasks.ts';
import type { OpenProvider } from '../../src/providers/registry.ts';
import { taskEnded } from '../attempts.ts';
import { switchedOff } from '../switches.ts';
import { incomingKeyOf, mediaKeysOf } from '../task-files.ts';
import {
  type Attempt,
  type Call,
  type CallEnd,
  deadlinePassed,
  endCall,
  failTask,
  failureFor,
  unclear,
  providerFailures,
} from './attempt.ts';
import { giveUp } from './lost-call.ts';

// A job that runs upstream, followed to its end. What the end means for the task is decided and committed here.

type Ending = Call & {
  /** Unix milliseconds; undefined for a job that was accepted just now, or that lives in its call. */
  readonly submittedAt?: number | undefined;
};

export type RunningJob = Ending & {
  readonly job: Job;
  readonly resubmissions: number;
  /** Unix milliseconds; undefined for a job that may still run. */
  readonly upstreamEndedAt?: number | undefined;
};

/** The video of the job; undefined when it has failed and another provider may be asked. */
export async function followJob(attempt: Attempt, running: RunningJob, provider: PolledProvider): Promise<CallEnd> {
  const { upstreamEndedAt } = running;
  // The deadline ends with the job: what is left is to fetch what was paid for.
  const signal = upstreamEndedAt === undefined ? attempt.signal : attempt.patientSignal;
  return await takeEnd(attempt, running, provider, await endOf(attempt, running, provider, signal));
}

async function endOf(
  attempt: Attempt,
  running: RunningJob,
  provider: PolledProvider,
  signal: AbortSignal,
): Promise<Ended> {
  const { deps, report: onProgress } = attempt;
  const off = deps.switches.watch(provider.name);
  const { open, job } = running;
  const either = AbortSignal.any([signal, off.signal]);
  try {
    return await open.follow(job, { ageMs: ageOf(running), onProgress, signal: either });
  } catch (error) {
    if (error === switchedOff) {
      await untilAsked(attempt, running.ordinal, async () => !(await deps.switches.isOff(provider.name)) || undefined);
      return await endOf(attempt, running, provider, signal);
    }
    if (error !== signal.reason) throw error;
    if (error === deadlinePassed) return await lastLook(attempt, running, provider);
    throw await stopped(attempt, running, provider);
  } finally {
    off.stop();
  }
}

async function takeEnd(
  attempt: Attempt,
  running: RunningJob,
  provider: PolledProvider,
  ended: Ended,
): Promise<CallEnd> {
  switch (ended.state) {
    case 'succeeded':
      return await fetchVideo(attempt, running, provider, ended);
    case 'failed':
      await takeFailure(attempt, running, ended);
      return undefined;
    case 'gone':
      break;
  }
  const uploaded = provider.uploads === true ? await takeUpload(attempt, running) : undefined;
  if (uploaded !== undefined) {
    await recordEnd(attempt, running, undefined);
    return uploaded;
  }
  const detail = 'the upstream knows the job no more';
  await giveUp(attempt, running, { why: 'the provider has lost a job', detail, isSettled: true });
  return undefined;
}

async function fetchVideo(
  attempt: Attempt,
  running: RunningJob,
  provider: PolledProvider,
  { result, cost, isUploaded = false }: Extract<JobStatus, { state: 'succeeded' }>,
): Promise<CallEnd> {
  const { deps, workFolder, patientSignal, deadlineMs } = attempt;
  const { job, upstreamEndedAt } = running;
  if (upstreamEndedAt === undefined) await recordEnd(attempt, running, cost);
  const leftMs = deadlineMs - (upstreamEndedAt === undefined ? 0 : Date.now() - upstreamEndedAt);
  const limit = AbortSignal.timeout(Math.max(0, leftMs));
  const signal = AbortSignal.any([patientSignal, limit]);
  try {
    const uploaded = isUploaded ? await takeUpload(attempt, running) : undefined;
    if (isUploaded && uploaded === undefined)
      deps.log.warn({ taskId: running.taskId, provider: provider.name }, 'uploaded video not found; downloading it');
    return uploaded ?? (await provider.result(job, result, { workFolder, signal }));
  } catch (error) {
    if (patientSignal.aborted) throw await stopped(attempt, running, provider);
    if (error instanceof OutboundError && error.kind === 'too_large')
      throw await failTask(attempt, running, providerFailures.tooLarge, { outcome: 'fail' });
    if (!limit.aborted) throw error;
    deps.log.error({ taskId: running.taskId, err: error }, 'a paid video could not be fetched');
    throw await failTask(attempt, running, providerFailures.timeout, { outcome: 'fail' });
  }
}

/**
 * Moves what the upstream wrote into our store to where only we can write, without its bytes coming here. Undefined when there is
 * nothing.
 */
async function takeUpload(attempt: Attempt, running: RunningJob): Promise<CallEnd> {
  const { media } = attempt.deps;
  const { taskId, job } = running;
  const [incoming, { staged }] = [incomingKeyOf(taskId, job.jobKey), mediaKeysOf(taskId)];
  const requireSize = async (key: string) => {
    const sizeBytes = await media.sizeOf(key);
    if (sizeBytes === undefined || sizeBytes <= maxVideoBytes) return sizeBytes;
    await media.delete(key);
    throw await failTask(attempt, running, providerFailures.tooLarge, { outcome: 'fail' });
  };
  await requireSize(incoming);
  await media.move([{ from: incoming, to: staged }]);
  // Once more: until now the upstream could write another one.
  return (await requireSize(staged)) === undefined ? undefined : { isStaged: true };
}

/** Its place is free from now on, and what the upstream reports replaces the estimate. */
async function recordEnd({ deps, task }: Attempt, running: Ending, reported: Cost | undefined): Promise<void> {
  const { taskId, ordinal, open } = running;
  const rule = open.terms.cost;
  const estimated = rule && estimateCost(rule, { input: task.param.input, gpuMs: ageOf(running) });
  await recordUpstreamEnd(deps.db, { taskId, ordinal, cost: reported ?? estimated });
}

/** Ends the task, unless failures there are free and another provider may do better. */
export async function takeFailure(
  attempt: Attempt,
  running: Ending,
  { fault, cost }: { readonly fault: Fault; readonly cost?: Cost },
): Promise<void> {
  const { deps } = attempt;
  const { taskId, ordinal, open } = running;
  deps.log.info({ taskId, ordinal, provider: open.provider.name, fault }, 'provider job failed');
  const isFree = open.terms.failedJobs === 'free' && cost === undefined;
  if (!isFree) await recordEnd(attempt, running, cost);
  const end = { outcome: 'fail', detail: fault.detail, cost: isFree ? 'free' : undefined } as const;
  const failure = failureFor(fault) ?? (open.terms.failedJobs === 'billed' ? providerFailures.failed : undefined);
  if (failure !== undefined) throw await failTask(attempt, running, failure, end);
  await endCall(deps, { taskId, ordinal, ...end });
}

/** For each of the last calls to the provider. */
const answerLimitMs = 15_000;

/** At the deadline the provider is asked once more, since a video that is ready is better than a refund. */
async function lastLook(attempt: Attempt, running: RunningJob, provider: PolledProvider): Promise<Ended> {
  const { deps } = attempt;
  const { job, taskId } = running;
  const statuses = await inTime((signal) => provider.status([job], signal));
  const status = statuses?.get(job.jobKey);
  if (status?.state === 'succeeded') return status;
  // Committed before the job is stopped, so that a repeated attempt finds the deadline passed, too.
  await touchGenerations(deps.db, [taskId]);
  // A job that has failed may be one that an earlier attempt has stopped.
  const outcome = status?.state === 'failed' ? 'ended' : await inTime((signal) => provider.cancel(job, signal));
  throw await failTask(attempt, running, providerFailures.timeout, endAfter(outcome));
}

function endAfter(outcome: CancelOutcome | undefined) {
  const isSettled = outcome === 'cancelled' || outcome === 'ended';
  return { outcome: 'abandoned', cost: 'unknown', isSettled } as const;
}

/**
 * Only a task that is over, or is to be, stops the provider's job. A worker that shuts down, or that was taken for dead, leaves it to
 * the next attempt.
 */
async function stopped(attempt: Attempt, running: RunningJob, provider: PolledProvider): Promise<Error> {
  if (!isCancelled(attempt)) return givesWay();
  const outcome = await inTime((signal) => provider.cancel(running.job, signal));
  // Without an answer it is left to `reconcile`.
  if (outcome !== undefined) await failTask(attempt, running, providerFailures.cancelled, endAfter(outcome));
  return new CancelledFailure('the task was cancelled');
}

export function isCancelled({ patientSignal }: Pick<Attempt, 'patientSignal'>): boolean {
  const isRequested = Context.current().cancellationDetails?.cancelRequested === true;
  return isRequested || patientSignal.reason === taskEnded;
}

export function givesWay(): Error {
  return unclear('this attempt gives way to another');
}

/** The answer, or undefined when it fails or takes too long: the task ends without it, too. */
async function inTime<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  const stop = new AbortController();
  const noAnswer = () => undefined;
  const answer = ask(stop.signal).catch(noAnswer);
  const known = await pTimeout(answer, { milliseconds: answerLimitMs, fallback: noAnswer });
  stop.abort();
  return known;
}

function ageOf({ submittedAt }: Ending): number {
  return submittedAt === undefined ? 0 : Math.max(0, Date.now() - submittedAt);
}

const lookAgainMs = 10_000;
const tellEveryMs = 300_000;

/**
 * The provider that the job was made at. When its name has left the catalogue, or stands for another upstream, nobody is asked about
 * the job: it could be answered by a stranger.
 */
export async function providerOfJob(attempt: Attempt, row: ProviderJob): Promise<OpenProvider> {
  const { providers, switches } = attempt.deps;
  return await untilAsked(attempt, row.ordinal, async () =>
    (await switches.isOff(row.provider)) ? undefined : providers.ofJob(row),
  );
}

/** Waits for a provider of which nothing may be asked at the moment, until the deadline. */
async function untilAsked<T>(attempt: Attempt, ordinal: number, find: () => Promise<T | undefined>): Promise<T> {
  const { deps, task, signal } = attempt;
  const { taskId } = task;
  for (let toldAt = -Infinity; ; await delay(lookAgainMs, undefined, { signal }).catch(() => undefined)) {
    const found = await find();
    if (found !== undefined) return found;
    if (performance.now() - toldAt >= tellEveryMs) {
      deps.log.error({ taskId, ordinal }, 'a job is not asked about: its provider is off, or another upstream now');
      toldAt = performance.now();
    }
    if (!signal.aborted) continue;
    if (signal.reason !== deadlinePassed) throw isCancelled(attempt) ? new CancelledFailure('cancelled') : givesWay();
    const end = { outcome: 'abandoned', cost: 'unknown', detail: 'its provider was off, or another upstream' } as const;
    throw await failTask(attempt, { taskId, ordinal }, providerFailures.unavailable, end);
  }
}
