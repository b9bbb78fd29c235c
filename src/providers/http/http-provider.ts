import {
  classifyCreate,
  classifyPoll,
  createStateReader,
  declinesCancel,
  detailOf,
  type Reply,
  replyOf,
  shownText,
  statusOfEach,
} from '../answers.ts';
import type {
  CancelOutcome,
  Job,
  JobRequest,
  JobStatus,
  JsonObject,
  LostCall,
  PolledProvider,
  RecoverOutcome,
  RequestBody,
  SubmitOutcome,
  PolledProviderDeps,
} from '../contract.ts';
import { downloadResult } from '../download-result.ts';
import { answerData, costIn, createRules, faultIn, foundJobs } from './answer-meaning.ts';
import { type Expression, ExpressionError } from './expression.ts';
import type { ProviderFile } from './file-schema.ts';
import { createReaders, type Reader, textOf, type Trace } from './reader.ts';
import { createData, jobData, jsonBody, lostData } from './request-data.ts';

/** `config.options.parameters` reach the expressions. The client has the `headers` of the file and what `credentialsOf` answers. */
export type HttpProviderDeps = PolledProviderDeps & {
  readonly file: ProviderFile;
  readonly trace?: Trace;
};

const [recoverTimeoutMs, statusTimeoutMs, cancelTimeoutMs] = [30_000, 10_000, 15_000];
const maxAnswerBytes = 256 * 1024;

/** Speaks to an upstream as its file says; what its answers prove is decided by the rules that hold for every provider. */
export function createHttpProvider(deps: HttpProviderDeps): PolledProvider {
  const { name, config, file, client, pollsPerSecond, warn } = deps;
  const { creates, others: reader } = createReaders(warn, deps.trace);
  const call: Call = async (request, { limits, ...options }) => {
    return await replyOf(
      client.call(request.method, options.path, { ...options, ...limits, maxBytes: maxAnswerBytes }),
    );
  };
  const upstream = { ...deps, reader, readState: createStateReader(file.status.states, warn), call };
  return {
    name,
    config,
    runs: 'upstream',
    namesJobs: false,
    forgetsJobs: false,
    images: file.images === 'link' ? 'link' : 'file',
    maxBatch: 1,
    minPollMs: file.status.minSeconds * 1000,
    maxPollsPerSecond: pollsPerSecond,
    submit: async (request, signal) => await submit({ ...upstream, reader: creates }, request, signal),
    recover: async (lost, signal) => await recover(upstream, lost, signal),
    status: async (jobs, signal) => await statusOfEach(jobs, (job) => statusOf(upstream, job, signal)),
    result: async (job, known, to) => {
      let fresh = known;
      const urlOf = async (signal: AbortSignal) => {
        const result = fresh ?? (await resultOf(upstream, job, signal));
        fresh = undefined;
        if (typeof result['url'] === 'string') return result['url'];
        throw new Error('the result has no address of a video');
      };
      return await downloadResult(client, urlOf, to, warn);
    },
    cancel: async (job, signal) => await cancel(upstream, job, signal),
  };
}

type Upstream = HttpProviderDeps & {
  readonly reader: Reader;
  readonly readState: ReturnType<typeof createStateReader<'queued' | 'running' | 'succeeded' | 'failed'>>;
  readonly call: Call;
};
type Limits = { readonly timeoutMs: number; readonly signal: AbortSignal };
type Call = (
  request: { readonly method: string },
  options: { readonly path: string; readonly body?: RequestBody; readonly limits: Limits },
) => Promise<Reply>;

/** The client sees to it that an address that an upstream gave is one of its own. */
async function pathFor(reader: Reader, field: string, path: Expression, data: JsonObject): Promise<string> {
  const address = textOf(await reader.required(field, path, data)) ?? '';
  if (/^(?:\/|https?:\/\/)[\x21-\x7e]*$/.test(address)) return address;
  throw new ExpressionError(`${field}: must begin with /, or be a whole address`);
}

async function submit(upstream: Upstream, request: JobRequest, signal: AbortSignal): Promise<SubmitOutcome> {
  const { file, reader, call, submitTimeoutMs } = upstream;
  const { data, contents } = await createData(request, upstream);
  try {
    const path = await pathFor(reader, 'create.path', file.create.path, data);
    const body = jsonBody(await reader.required('create.json', file.create.json, data), contents);
    const reply = await call(file.create, { path, body, limits: { timeoutMs: submitTimeoutMs, signal } });
    return classifyCreate(reply, await createRules(upstream, reply, data));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    // Nothing was sent: expressions of an answer do not throw.
    return { kind: 'not_accepted', reason: 'operator', detail: error.message };
  }
}

/** For how long a list may not show a job yet that was created. */
const maxListLagMs = 120_000;

async function recover(upstream: Upstream, lost: LostCall, signal: AbortSignal): Promise<RecoverOutcome> {
  const { find } = upstream.file;
  if (find === undefined) return { kind: 'unknown', detail: 'jobs of this upstream cannot be looked up' };
  const { data, reply } = await ask(upstream, 'find', find, lostData(lost, upstream), {
    timeoutMs: recoverTimeoutMs,
    signal,
  });
  const later = { kind: 'later', afterMs: 15_000 } as const;
  // Where the name of a job is part of the address, its 404 is the empty list. It proves nothing, as no list does.
  const poll = classifyPoll(reply, (_body, status) => status === 404);
  if ('status' in poll && poll.status.state !== 'missing') return later;
  const jobs = 'status' in poll ? [] : await foundJobs(upstream, data);
  const claimed = await lost.claimed(jobs.map(({ id }) => id));
  const [job, ...others] = jobs.filter(({ id }) => !claimed.has(id));
  if (job !== undefined && others.length === 0 && lost.rivals === 0) return { kind: 'found', ...job };
  if (Date.now() - lost.intendedAt < maxListLagMs) return later;
  return { kind: 'unknown', detail: `${jobs.length} jobs may be the lost one; ${detailOf(reply)}` };
}

async function statusOf(upstream: Upstream, job: Job, signal: AbortSignal): Promise<JobStatus> {
  const { file, reader, readState } = upstream;
  const limits = { timeoutMs: statusTimeoutMs, signal };
  const { data, reply } = await ask(upstream, 'status', file.status, jobData(job, upstream), limits);
  const isMissing = await reader.flag('status.missing', file.status.missing, data);
  const poll = classifyPoll(reply, () => isMissing);
  if ('status' in poll) return poll.status;
  const word = await reader.text('status.state', file.status.state, data);
  if (word === undefined) return { state: 'unclear', detail: detailOf(reply) };
  const state = readState(word);
  if (state === 'succeeded') return await endOf(upstream, data, limits);
  if (state === 'failed') return { state, fault: await faultIn(upstream, data), ...(await costIn(upstream, data)) };
  const progress = Number((await reader.text('status.progress', file.status.progress, data)) ?? Number.NaN);
  return { state, ...(progress >= 0 && progress <= 100 && { progress }) };
}

/** An upstream may tell only in the second answer that a job failed after all. */
async function endOf(upstream: Upstream, last: JsonObject, limits: Limits): Promise<JobStatus> {
  const { file, reader } = upstream;
  const { path, url, failed } = file.result;
  const second = path === undefined ? undefined : await ask(upstream, 'result', { method: 'GET', path }, last, limits);
  const data = second?.data ?? last;
  if (await reader.flag('result.failed', failed, data))
    return { state: 'failed', fault: await faultIn(upstream, data), ...(await costIn(upstream, last)) };
  const poll = second === undefined ? undefined : classifyPoll(second.reply, () => false);
  if (poll !== undefined && 'status' in poll) return poll.status;
  const address = await reader.text('result.url', url, data);
  if (address === undefined) return { state: 'unclear', detail: 'the job succeeded and has no address of a video' };
  return { state: 'succeeded', result: { url: address }, ...(await costIn(upstream, last)) };
}

async function resultOf(upstream: Upstream, job: Job, signal: AbortSignal): Promise<JsonObject> {
  const status = await statusOf(upstream, job, signal);
  if (status.state === 'succeeded') return status.result ?? {};
  throw new Error(`the job has no result: ${shownText(JSON.stringify(status), 500)}`);
}

async function cancel(upstream: Upstream, job: Job, signal: AbortSignal): Promise<CancelOutcome> {
  const step = upstream.file.cancel;
  if (step === undefined) return 'runs_on';
  const limits = { timeoutMs: cancelTimeoutMs, signal };
  const { data, reply } = await ask(upstream, 'cancel', step, jobData(job, upstream), limits);
  if ('error' in reply) return 'unclear';
  if (await upstream.reader.flag('cancel.cancelled', step.cancelled, data)) return 'cancelled';
  if (await upstream.reader.flag('cancel.ended', step.ended, data)) return 'ended';
  return declinesCancel(reply) ? 'runs_on' : 'unclear';
}

type Question = { readonly method: string; readonly path: Expression };

/** A question about a job; the engine takes what is thrown for no verdict. */
async function ask(
  { reader, call }: Upstream,
  field: string,
  question: Question,
  known: JsonObject,
  limits: Limits,
): Promise<{ readonly reply: Reply; readonly data: JsonObject }> {
  const path = await pathFor(reader, `${field}.path`, question.path, known);
  const reply = await call(question, { path, limits });
  return { reply, data: answerData(reply, known) };
}
