import type { JsonObject } from '../../platform/text/json.ts';
import {
  classifyCreate,
  bodyOrStatusOfPoll,
  createStateReader,
  declinesCancel,
  unclearPollOf,
  type AnswerOrError,
  answerOrErrorOf,
} from '../classify-upstream-answers.ts';
import type {
  CancelOutcome,
  Job,
  JobRequest,
  JobStatus,
  LostCreateToRecover,
  PolledProvider,
  RecoverOutcome,
  RequestBody,
  SubmitOutcome,
} from '../provider-contract.ts';
import { findJobOfCreate, unreadableLookup } from '../jobs/pick-job-of-lost-create.ts';
import {
  createPolledProvider,
  startSubmitCountdown,
  type PolledProviderDeps,
  requestTimeoutsAfterCreate,
} from '../jobs/polled-provider.ts';
import { jsonBody } from '../requests/request-bodies.ts';
import { answerData, costIn, rulesForCreateAnswer, upstreamErrorInAnswer, foundJobsIn } from './answer-meaning.ts';
import { type Expression, ExpressionError } from '../../catalogue/providers/jsonata-expression.ts';
import type { ProviderFile } from '../../catalogue/providers/provider-file-schema.ts';
import {
  createPrioritizedReaders,
  type ExpressionReader,
  textOf,
  type TraceExpression,
} from './evaluate-expressions-by-priority.ts';
import { generatedHeaders } from './headers-and-query.ts';
import { usesMedia } from '../../catalogue/providers/fields-passed-by-provider-file.ts';
import {
  bodyWithContents,
  dataForCreate,
  dataForJob,
  dataForLostCreate,
  dataForUpload,
} from './request-data-for-expressions.ts';
import { uploadImages } from './image-uploads.ts';

/** `config.options.parameters` reach the expressions. The client has the `requestSettingsOf` the file. */
export type HttpProviderDeps = PolledProviderDeps & {
  readonly file: ProviderFile;
  readonly trace?: TraceExpression;
};

const maxAnswerBytes = 256 * 1024;

/** Speaks to an upstream as its file describes; the rules that hold for every provider decide what its answers prove. */
export function createHttpProvider(deps: HttpProviderDeps): PolledProvider {
  const { file, client, warn } = deps;
  const { creates, others: reader } = createPrioritizedReaders(warn, deps.trace);
  const call: Call = ({ method }, { limits, path, ...body }) =>
    answerOrErrorOf(
      client.call(method, path, { ...body, ...limits, headers: generatedHeaders(file), maxBytes: maxAnswerBytes }),
    );
  const upstream = { ...deps, reader, readState: createStateReader(file.status.states, warn), call };
  return createPolledProvider(deps, {
    namesJobs: false,
    forgetsJobs: false,
    images: file.images === 'link' ? 'link' : 'file',
    // Copies of clips that no request has would only fill our store.
    clips: file.clips === 'link' && usesMedia(file, ['videos', 'audios']) ? 'link' : 'file',
    minPollMs: file.status.minSeconds * 1000,
    submit: (request, signal) => submit({ ...upstream, reader: creates }, request, signal),
    recover: (lost, signal) => recover(upstream, lost, signal),
    statusOf: (job, signal) => statusOf(upstream, job, signal),
    cancel: (job, signal) => cancel(upstream, job, signal),
  });
}

type Upstream = HttpProviderDeps & {
  readonly reader: ExpressionReader;
  readonly readState: ReturnType<typeof createStateReader<'queued' | 'running' | 'succeeded' | 'failed'>>;
  readonly call: Call;
};
type Limits = { readonly timeoutMs: number; readonly signal: AbortSignal };
type Call = (
  request: { readonly method: string },
  options: { readonly path: string; readonly body?: RequestBody; readonly limits: Limits },
) => Promise<AnswerOrError>;

/** Returns the address for a request. The client checks that it belongs to the upstream. */
async function pathFor(reader: ExpressionReader, field: string, path: Expression, data: JsonObject): Promise<string> {
  const address = textOf(await reader.required(field, path, data)) ?? '';
  if (/^(?:\/|https?:\/\/)[\x21-\x7e]*$/.test(address)) return address;
  throw new ExpressionError(`${field}: must begin with /, or be a whole address`);
}

async function submit(upstream: Upstream, request: JobRequest, signal: AbortSignal): Promise<SubmitOutcome> {
  const { file, reader, call, submitTimeoutMs } = upstream;
  const leftMs = startSubmitCountdown(submitTimeoutMs);
  try {
    const uploaded = await uploadsOf(upstream, request, leftMs, signal);
    if (uploaded !== undefined && 'kind' in uploaded) return uploaded;
    const created = await dataForCreate(request, upstream, uploaded);
    if ('kind' in created) return created;
    const { data, contents } = created;
    const path = await pathFor(reader, 'create.path', file.create.path, data);
    const body = bodyWithContents(contents, await reader.required('create.json', file.create.json, data));
    const reply = await call(file.create, { path, body, limits: { timeoutMs: leftMs(), signal } });
    return classifyCreate(reply, await rulesForCreateAnswer(upstream, reply, data));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    // No create was sent, because expressions about an answer do not throw.
    return { kind: 'not_accepted', reason: 'operator', detail: error.message };
  }
}

async function uploadsOf(upstream: Upstream, request: JobRequest, leftMs: () => number, signal: AbortSignal) {
  const { file, reader, call } = upstream;
  const { upload } = file;
  if (upload === undefined) return undefined;
  const known = dataForUpload(request, upstream);
  const path = await pathFor(reader, 'upload.path', upload.path, known);
  const post = (body: RequestBody) => call({ method: 'POST' }, { path, body, limits: { timeoutMs: leftMs(), signal } });
  return await uploadImages(request, { file, reader, upload, known, send: post });
}

async function recover(upstream: Upstream, lost: LostCreateToRecover, signal: AbortSignal): Promise<RecoverOutcome> {
  const { find } = upstream.file;
  if (find === undefined) return { kind: 'unknown', detail: 'jobs of this upstream cannot be looked up' };
  const limits = { timeoutMs: requestTimeoutsAfterCreate.recoverMs, signal };
  const { data, reply, path } = await send(upstream, 'find', find, dataForLostCreate(lost, upstream), limits);
  // With the job's name in the address, a 404 is the empty list; without it, the address is wrong.
  const poll = bodyOrStatusOfPoll(reply, (_body, status) => status === 404 && path.includes(lost.jobKey));
  if ('status' in poll && poll.status.state !== 'missing') return unreadableLookup;
  const found = await foundJobsIn(upstream.reader, find, data);
  return found === undefined ? unreadableLookup : await findJobOfCreate(found, lost);
}

async function statusOf(upstream: Upstream, job: Job, signal: AbortSignal): Promise<JobStatus> {
  const { file, reader, readState } = upstream;
  const limits = { timeoutMs: requestTimeoutsAfterCreate.statusMs, signal };
  const { data, reply } = await send(upstream, 'status', file.status, dataForJob(job, upstream), limits);
  const isMissing = await reader.flag('status.missing', file.status.missing, data);
  const poll = bodyOrStatusOfPoll(reply, () => isMissing);
  if ('status' in poll) return poll.status;
  const word = await reader.text('status.state', file.status.state, data);
  if (word === undefined) return unclearPollOf(reply).status;
  const state = readState(word);
  if (state === 'succeeded') return await endOf(upstream, data, limits);
  if (state === 'failed')
    return { state, error: await upstreamErrorInAnswer(upstream, data), ...(await costIn(upstream, data)) };
  const progress = Number((await reader.text('status.progress', file.status.progress, data)) ?? Number.NaN);
  return { state, ...(progress >= 0 && progress <= 100 && { progress }) };
}

/** An upstream may report only in the second answer that a job failed after all. */
async function endOf(upstream: Upstream, last: JsonObject, limits: Limits): Promise<JobStatus> {
  const { file, reader } = upstream;
  const { path, url, failed } = file.result;
  const second =
    path === undefined ? undefined : await send(upstream, 'result', { ...file.result, path }, last, limits);
  const data = second?.data ?? last;
  if (await reader.flag('result.failed', failed, data))
    return { state: 'failed', error: await upstreamErrorInAnswer(upstream, data), ...(await costIn(upstream, last)) };
  const poll = second === undefined ? undefined : bodyOrStatusOfPoll(second.reply);
  if (poll !== undefined && 'status' in poll) return poll.status;
  const address = await reader.text('result.url', url, data);
  if (address === undefined) return { state: 'unclear', detail: 'the job succeeded without the address of a video' };
  return { state: 'succeeded', result: { url: address }, ...(await costIn(upstream, last)) };
}

async function cancel(upstream: Upstream, job: Job, signal: AbortSignal): Promise<CancelOutcome> {
  const step = upstream.file.cancel;
  if (step === undefined) return 'runs_on';
  const limits = { timeoutMs: requestTimeoutsAfterCreate.cancelMs, signal };
  const { data, reply } = await send(upstream, 'cancel', step, dataForJob(job, upstream), limits);
  if ('error' in reply) return 'unclear';
  if (await upstream.reader.flag('cancel.cancelled', step.cancelled, data)) return 'cancelled';
  if (await upstream.reader.flag('cancel.ended', step.ended, data)) return 'ended';
  return declinesCancel(reply) ? 'runs_on' : 'unclear';
}

type Request = {
  readonly method: string;
  readonly path: Expression;
  readonly json?: Expression | undefined;
};

async function send(
  { reader, call }: Upstream,
  field: string,
  request: Request,
  known: JsonObject,
  limits: Limits,
): Promise<{ readonly reply: AnswerOrError; readonly data: JsonObject; readonly path: string }> {
  const path = await pathFor(reader, `${field}.path`, request.path, known);
  const json = request.json && (await reader.required(`${field}.json`, request.json, known));
  const reply = await call(request, { path, limits, ...(json !== undefined && { body: jsonBody(json) }) });
  return { reply, data: answerData(reply, known), path };
}
