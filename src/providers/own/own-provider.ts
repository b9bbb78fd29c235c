import { z } from 'zod';
import { frameSize } from '../../media/frame-size.ts';
import {
  classifyCreate,
  type CreateRules,
  createStateReader,
  cancelOutcome,
  readRecord,
  replyOf,
  shownText,
} from '../answers.ts';
import type {
  CancelOutcome,
  UpstreamError,
  FrozenConfig,
  JobRequest,
  JobStatus,
  JsonObject,
  PolledProvider,
  RequestBody,
} from '../contract.ts';
import { mediaFields, type TaskInput } from '../../tasks/task-input.ts';
import { imageDataUrls, imageParts, leadingImage } from '../image-parts.ts';
import { createPolledProvider, type PolledProviderDeps, timeouts } from '../polled-provider.ts';
import { seedOf } from '../task-values.ts';

/** `config.options.parameters` reach the server unchanged. */
export type OwnProviderDeps = PolledProviderDeps & { readonly uploads?: boolean };

type Named = { readonly jobKey: string };

/** The bounds of requests and answers that docs/providers/own.md promises. */
const [maxImageBytes, maxAnswerBytes] = [60_000_000, 64 * 1024];

/** Speaks the protocol of docs/providers/own.md. We name each job and a repeated PUT makes no second one, so no job is ever lost. */
export function createOwnProvider(deps: OwnProviderDeps): PolledProvider {
  const { config, client, uploads = false, submitTimeoutMs, warn } = deps;
  const readState = createStateReader(states, warn);
  const call = (method: string, { jobKey }: Named, timeoutMs: number, signal: AbortSignal, body?: RequestBody) => {
    const limits = { timeoutMs, signal, maxBytes: maxAnswerBytes };
    return replyOf(client.call(method, `/jobs/${jobKey}`, { ...limits, ...(body && { body }) }));
  };
  const readJob = async (job: Named, timeoutMs: number, signal: AbortSignal) =>
    readRecord(await call('GET', job, timeoutMs, signal), recordSchema, job.jobKey, isMissing);
  return createPolledProvider(deps, {
    namesJobs: true,
    forgetsJobs: true,
    clips: 'link',
    uploads,
    submit: async (request, signal) => {
      const body = await requestBody(request, config);
      return classifyCreate(await call('PUT', request, submitTimeoutMs, signal, body), rulesFor(request));
    },
    recover: async (lost, signal) => {
      const read = await readJob(lost, timeouts.recoverMs, signal);
      if ('record' in read) return { kind: 'found', id: lost.jobKey };
      if (read.status.state === 'missing') return { kind: 'not_created' };
      return { kind: 'later', afterMs: read.status.retryAfterMs ?? 15_000 };
    },
    statusOf: async (job, signal) => {
      const read = await readJob(job, timeouts.statusMs, signal);
      return 'record' in read ? statusIn(read.record, readState(read.record.status)) : read.status;
    },
    cancel: async (job, signal) => {
      const reply = await call('DELETE', job, timeouts.cancelMs, signal);
      const read = readRecord(reply, recordSchema, job.jobKey, isMissing);
      return 'record' in read ? cancelOutcomes[readState(read.record.status)] : cancelOutcome(reply, read.status);
    },
  });
}

/** The version of the protocol in docs/providers/own.md. A server rejects every other one. */
export const protocolVersion = 2;

/** The body of a PUT: the whole input without the client's addresses, with our copies of the media instead. */
export async function requestBody(
  request: JobRequest,
  { upstreamModel, options }: Pick<FrozenConfig, 'upstreamModel' | 'options'>,
): Promise<RequestBody> {
  const media = await request.media();
  const { options: chosen = {}, ...input } = request.input;
  const { widthPx, heightPx } = frameSize(input.resolution, input.ratio, leadingImage(media));
  const { videos, audios } = request.mediaLinks;
  const body = {
    version: protocolVersion,
    model: upstreamModel,
    input: { ...withoutAddresses(input), seed: seedOf(request), options: chosen, width: widthPx, height: heightPx },
    media: { ...(await imageParts(media, (images) => imageDataUrls(images, maxImageBytes))), videos, audios },
    parameters: options['parameters'] ?? {},
    deadlineSeconds: Math.ceil(request.deadlineMs / 1000),
    ...(request.resultUpload !== undefined && { resultUpload: request.resultUpload }),
  };
  return { contentType: 'application/json', bytes: JSON.stringify(body) };
}

function withoutAddresses(input: Partial<TaskInput>): object {
  return Object.fromEntries(Object.entries(input).filter(([field]) => !mediaFields.some(({ name }) => name === field)));
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

function errorOf(body: JsonObject) {
  return errorSchema.safeParse(body['error']).data;
}

/** Only a server of the protocol uses this code; the 404 of a proxy proves nothing. */
function isMissing(body: JsonObject, status: number): boolean {
  return status === 404 && errorOf(body)?.code === 'not_found';
}

const errorKinds: Readonly<Record<string, UpstreamError['kind']>> = {
  content_rejected: 'content',
  image_invalid: 'image',
  input_invalid: 'input',
};

function upstreamErrorOf(code: string, detail: string): UpstreamError {
  const kind = Object.hasOwn(errorKinds, code) ? errorKinds[code] : undefined;
  return { kind: kind ?? 'upstream', code: shownText(code, 100), detail: shownText(detail) };
}

function rulesFor(request: Named): CreateRules {
  return {
    errorOf,
    jobOf: (body) => (recordSchema.safeParse(body).data?.id === request.jobKey ? { id: request.jobKey } : undefined),
    classify: ({ status, code = '', detail }) => {
      if (status === 503) return { kind: 'not_accepted', reason: 'busy', detail };
      // There is such a job already, which is then looked up as after a lost answer.
      if (status === 409) return { kind: 'unknown', detail };
      const isRefused = status === 400 || status === 413 || status === 422;
      return isRefused ? { kind: 'refused', error: upstreamErrorOf(code, detail) } : undefined;
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

function statusIn({ id, progress, error, uploaded = false, cost: reported }: JobRecord, state: State): JobStatus {
  if (state === 'queued' || state === 'running') return { state, ...(progress !== undefined && { progress }) };
  const cost = reported === undefined ? {} : { cost: { ...reported, basis: 'reported' as const } };
  const result = { url: `/jobs/${id}/video` };
  if (state === 'succeeded') return { state, result, ...(uploaded && { isUploaded: true }), ...cost };
  return { state: 'failed', error: upstreamErrorOf(error?.code ?? state, error?.message ?? ''), ...cost };
}
