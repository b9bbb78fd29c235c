import { z } from 'zod';
import { frameSize } from '../../domain/frame-size.ts';
import {
  classifyCreate,
  classifyPoll,
  type CreateRules,
  createStateReader,
  declinesCancel,
  detailOf,
  type Poll,
  type Reply,
  replyOf,
  shownText,
  statusOfEach,
} from '../answers.ts';
import type {
  CancelOutcome,
  Fault,
  FrozenConfig,
  JobRequest,
  JobStatus,
  JsonObject,
  PolledProvider,
  RequestBody,
  PolledProviderDeps,
} from '../contract.ts';
import { downloadResult } from '../download-result.ts';
import { imageDataUrls } from '../image-parts.ts';
import { seedOf } from '../task-values.ts';

/** `config.options.parameters` reach the server as they are. */
export type OwnProviderDeps = PolledProviderDeps & { readonly uploads?: boolean };

type Named = { readonly jobKey: string };

const [recoverTimeoutMs, statusTimeoutMs, cancelTimeoutMs] = [30_000, 10_000, 15_000];
/** What docs/providers/own.md promises of the sizes of requests and answers. */
const [maxImageBytes, maxAnswerBytes] = [60_000_000, 64 * 1024];

/**
 * Speaks the protocol of docs/providers/own.md. We name each job and a repeated PUT makes no second one, so every lost answer
 * can be cleared up.
 */
export function createOwnProvider(deps: OwnProviderDeps): PolledProvider {
  const { name, config, client, uploads = false, pollsPerSecond, submitTimeoutMs, warn } = deps;
  const readState = createStateReader(states, warn);
  const call = (method: string, job: Named, limits: { timeoutMs: number; signal: AbortSignal; body?: RequestBody }) =>
    replyOf(client.call(method, `/jobs/${job.jobKey}`, { ...limits, maxBytes: maxAnswerBytes }));
  return {
    name,
    config,
    runs: 'upstream',
    namesJobs: true,
    forgetsJobs: true,
    images: 'file',
    uploads,
    maxBatch: 1,
    minPollMs: 500,
    maxPollsPerSecond: pollsPerSecond,
    submit: async (request, signal) => {
      const body = await requestBody(request, config);
      const reply = await call('PUT', request, { timeoutMs: submitTimeoutMs, signal, body });
      return classifyCreate(reply, rulesFor(request));
    },
    recover: async (lost, signal) => {
      const found = jobIn(await call('GET', lost, { timeoutMs: recoverTimeoutMs, signal }), lost);
      if ('record' in found) return { kind: 'found', id: lost.jobKey };
      if (found.status.state === 'missing') return { kind: 'not_created' };
      return { kind: 'later', afterMs: found.status.retryAfterMs ?? 15_000 };
    },
    status: async (jobs, signal) => {
      return await statusOfEach(jobs, async (job) => {
        const found = jobIn(await call('GET', job, { timeoutMs: statusTimeoutMs, signal }), job);
        return 'record' in found ? statusOf(found.record, readState(found.record.status)) : found.status;
      });
    },
    result: async (job, _known, to) => await downloadResult(client, async () => `/jobs/${job.jobKey}/video`, to, warn),
    cancel: async (job, signal) => {
      const reply = await call('DELETE', job, { timeoutMs: cancelTimeoutMs, signal });
      const found = jobIn(reply, job);
      if ('record' in found) return cancelOutcomes[readState(found.record.status)];
      if (found.status.state === 'missing') return 'ended';
      return declinesCancel(reply) ? 'runs_on' : 'unclear';
    },
  };
}

/** What a PUT holds. */
export async function requestBody(
  request: JobRequest,
  { upstreamModel, options }: Pick<FrozenConfig, 'upstreamModel' | 'options'>,
): Promise<RequestBody> {
  const { imageUrls: _theirs, ...input } = request.input;
  const images = await request.images();
  const { widthPx, heightPx } = frameSize(input.ratio, images[0]);
  const body = {
    model: upstreamModel,
    input: { ...input, width: widthPx, height: heightPx },
    images: await imageDataUrls(images, maxImageBytes),
    parameters: options['parameters'] ?? {},
    seed: seedOf(request),
    deadlineSeconds: Math.ceil(request.deadlineMs / 1000),
    ...(request.resultUpload !== undefined && { resultUpload: request.resultUpload }),
  };
  return { contentType: 'application/json', bytes: JSON.stringify(body) };
}

const errorSchema = z.object({ code: z.string(), message: z.string().catch('') });
const recordSchema = z.object({
  id: z.string(),
  status: z.string(),
  progress: z.number().min(0).max(100).optional().catch(undefined),
  error: errorSchema.optional().catch(undefined),
  uploaded: z.boolean().optional().catch(undefined),
  cost: z
    .object({ micros: z.int().nonnegative(), currency: z.string().regex(/^[A-Z]{3}$/) })
    .optional()
    .catch(undefined),
});

type JobRecord = z.infer<typeof recordSchema>;

/** A job's record, unless the answer is no verdict; an answer about another job is none either. */
function jobIn(reply: Reply, { jobKey }: Named): { readonly record: JobRecord } | Extract<Poll, { status: object }> {
  const poll = classifyPoll(reply, isMissing);
  if ('status' in poll) return poll;
  const { data } = recordSchema.safeParse(poll.body);
  if (data?.id === jobKey) return { record: data };
  return { status: { state: 'unclear', detail: detailOf(reply) } };
}

function errorOf(body: JsonObject) {
  return errorSchema.safeParse(body['error']).data;
}

/** Only a server of the protocol says it in these words; the 404 of a proxy proves nothing. */
function isMissing(body: JsonObject, status: number): boolean {
  return status === 404 && errorOf(body)?.code === 'not_found';
}

const faultKinds: Readonly<Record<string, Fault['kind']>> = {
  content_rejected: 'content',
  image_invalid: 'image',
  input_invalid: 'input',
};

function faultOf(code: string, detail: string): Fault {
  const kind = Object.hasOwn(faultKinds, code) ? faultKinds[code] : undefined;
  return { kind: kind ?? 'upstream', code: shownText(code, 100), detail: shownText(detail) };
}

/** A 409 says that there is such a job already; it is looked up as after a lost answer. */
function rulesFor(request: Named): CreateRules {
  return {
    errorOf,
    jobOf: (body) => (recordSchema.safeParse(body).data?.id === request.jobKey ? { id: request.jobKey } : undefined),
    classify: ({ status, code = '', detail }) => {
      if (status === 503) return { kind: 'not_accepted', reason: 'busy', detail };
      if (status === 409) return { kind: 'unknown', detail };
      const isRefused = status === 400 || status === 413 || status === 422;
      return isRefused ? { kind: 'refused', fault: faultOf(code, detail) } : undefined;
    },
  };
}

const states = {
  queued: 'queued',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'canceled',
  cancelled: 'canceled',
} as const;

type State = (typeof states)[keyof typeof states];

const cancelOutcomes: Record<State, CancelOutcome> = {
  queued: 'runs_on',
  running: 'runs_on',
  succeeded: 'ended',
  failed: 'ended',
  canceled: 'cancelled',
};

function statusOf({ progress, error, uploaded = false, cost: reported }: JobRecord, state: State): JobStatus {
  if (state === 'queued' || state === 'running') return { state, ...(progress !== undefined && { progress }) };
  const cost = reported === undefined ? {} : { cost: { ...reported, basis: 'reported' as const } };
  if (state === 'succeeded') return { state, ...(uploaded && { isUploaded: true }), ...cost };
  return { state: 'failed', fault: faultOf(error?.code ?? state, error?.message ?? ''), ...cost };
}
