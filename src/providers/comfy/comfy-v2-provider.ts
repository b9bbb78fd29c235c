import { z } from 'zod';
import {
  bodyOf,
  cancelOutcome,
  classifyCreate,
  classifyPoll,
  type CreateRules,
  createStateReader,
  maxJobIdLength,
  noVerdict,
  readRecord,
  type Reply,
  replyOf,
  shownText,
} from '../answers.ts';
import type {
  CancelOutcome,
  JobRequest,
  JobStatus,
  JsonObject,
  JsonValue,
  PolledProvider,
  RequestBody,
} from '../contract.ts';
import { createPolledProvider } from '../polled-provider.ts';
import { filePrefix } from '../task-values.ts';
import { formWith, type UploadedFile } from '../upload-form.ts';
import { filledWorkflow, isVideoFile, type WorkflowProviderDeps } from './workflow.ts';

const [callTimeoutMs, maxListed, maxAnswerBytes] = [15_000, 100, 4_000_000];

/**
 * Speaks the Comfy API v2: Comfy Cloud, managed deployments, or comfy-api-proxy before a ComfyUI. The job's name is its
 * `Idempotency-Key`, which is accepted once and never answered again, and its `metadata`, by which it is found in the list.
 */
export function createComfyV2Provider(deps: WorkflowProviderDeps): PolledProvider {
  const { config, workflow, client, submitTimeoutMs, warn } = deps;
  const readState = createStateReader(states, warn);
  const call = (method: string, path: string, signal: AbortSignal, options: Partial<Sent> = {}) => {
    const limits = { timeoutMs: callTimeoutMs, maxBytes: maxAnswerBytes, signal };
    return replyOf(client.call(method, `/api/v2${path}`, { ...limits, ...options }));
  };
  const findByName = async (jobKey: string, signal: AbortSignal) => {
    const reply = await call('GET', `/jobs?limit=${maxListed}`, signal);
    const poll = classifyPoll(reply, () => false);
    if ('status' in poll) return poll;
    const { data } = listSchema.safeParse(poll.body);
    return data === undefined ? noVerdict(reply) : { record: data.jobs.find(({ metadata }) => metadata === jobKey) };
  };
  return createPolledProvider(deps, {
    namesJobs: true,
    forgetsJobs: true,
    submit: async (request, signal) => {
      const timeoutMs = submitTimeoutMs;
      const filled = await filledWorkflow(workflow(), request, config, {
        form: (file) => assetForm(file, request),
        send: (form) => call('POST', '/assets', signal, { body: form, timeoutMs }),
        reference: assetReference,
      });
      if ('kind' in filled) return filled;
      const bytes = JSON.stringify({ workflow: filled.graph, metadata: request.jobKey });
      const body = { contentType: 'application/json', bytes };
      const headers = { 'idempotency-key': request.jobKey };
      const reply = await call('POST', '/jobs', signal, { body, headers, timeoutMs });
      const outcome = classifyCreate(reply, createRules);
      if (!reusesKey(reply)) return outcome;
      // The server has read an earlier create with this name: the job is in the list, or it never began.
      const found = await findByName(request.jobKey, signal);
      return 'record' in found && found.record !== undefined ? { kind: 'accepted', id: found.record.id } : outcome;
    },
    recover: async ({ jobKey }, signal) => {
      const found = await findByName(jobKey, signal);
      if (!('record' in found)) return { kind: 'later', afterMs: 15_000 };
      return found.record === undefined ? { kind: 'not_created' } : { kind: 'found', id: found.record.id };
    },
    statusOf: async ({ id }, signal) => {
      const read = readRecord(await call('GET', `/jobs/${id}`, signal), recordSchema, id, isMissing);
      return 'record' in read ? statusIn(read.record, readState(read.record.status)) : read.status;
    },
    cancel: async ({ id }, signal) => {
      const reply = await call('POST', `/jobs/${id}/cancel`, signal);
      const read = readRecord(reply, recordSchema, id, isMissing);
      return 'record' in read ? cancelOutcomes[readState(read.record.status)] : cancelOutcome(reply, read.status);
    },
  });
}

type Sent = {
  readonly body: RequestBody;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
};

/** Stands in a path unchanged. */
const jobId = z
  .string()
  .max(maxJobIdLength)
  .regex(/^[\w-]+$/);
const errorSchema = z.object({ code: z.string(), message: z.string().catch('') });
const recordSchema = z.object({
  id: jobId,
  status: z.string(),
  metadata: z.string().optional().catch(undefined),
  progress: z
    .object({ value: z.number().min(0).max(1) })
    .nullish()
    .catch(undefined),
  error: errorSchema.nullish().catch(undefined),
  outputs: z
    .array(z.object({ name: z.string().catch(''), content_type: z.string().catch(''), url: z.string() }))
    .catch([]),
});
const listSchema = z.object({ jobs: z.array(recordSchema) });

type JobRecord = z.output<typeof recordSchema>;

function errorOf(body: JsonObject) {
  return errorSchema.safeParse(body['error']).data;
}

function reusesKey(reply: Reply): boolean {
  const body = 'answer' in reply ? bodyOf(reply.answer) : undefined;
  return body !== undefined && errorOf(body)?.code === keyIsUsed;
}

function isMissing(body: JsonObject, status: number): boolean {
  return status === 404 && errorOf(body)?.code === 'not_found';
}

const states = {
  queued: 'queued',
  running: 'running',
  canceling: 'canceling',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'canceled',
  // Its ComfyUI was restarted, or a day is over.
  expired: 'expired',
} as const;

type State = (typeof states)[keyof typeof states];

const cancelOutcomes: Record<State, CancelOutcome> = {
  queued: 'runs_on',
  running: 'runs_on',
  canceling: 'unclear',
  succeeded: 'ended',
  failed: 'ended',
  canceled: 'cancelled',
  expired: 'ended',
};

function statusIn(record: JobRecord, state: State): JobStatus {
  const { progress, error, status } = record;
  // Zero means that the server does not know.
  const percent = progress && progress.value > 0 ? { progress: progress.value * 100 } : {};
  if (state === 'queued') return { state };
  if (state === 'running' || state === 'canceling') return { state: 'running', ...percent };
  if (state === 'expired') return { state: 'missing' };
  const failed = (detail: string): JobStatus => ({
    state: 'failed',
    error: { kind: 'upstream', code: error?.code ?? status, detail: shownText(detail) },
  });
  if (state !== 'succeeded') return failed(error?.message ?? status);
  const url = videoOf(record);
  return url === undefined ? failed('the workflow wrote no video') : { state, result: { url } };
}

/** Checks content type and name, because the type of an output is `image` for videos, too. */
function videoOf({ outputs }: JobRecord): string | undefined {
  return outputs.findLast(({ name, content_type: type }) => type.startsWith('video/') || isVideoFile(name))?.url;
}

/** Keys count once: the job of an earlier create may exist. */
const keyIsUsed = 'idempotency_key_reuse';

const createRules: CreateRules = {
  errorOf,
  jobOf: (body) => {
    const { data: id } = jobId.safeParse(body['id']);
    return id === undefined ? undefined : { id };
  },
  classify: ({ status, code, detail }) => {
    if (code === keyIsUsed) return { kind: 'unknown', detail };
    // An error in the graph affects every task.
    if (status === 400 || status === 404 || status === 422) return { kind: 'not_accepted', reason: 'operator', detail };
    return undefined;
  },
};

const assetSchema = z.object({ id: z.string() });

async function assetForm(file: UploadedFile, request: Pick<JobRequest, 'jobKey'>): Promise<RequestBody> {
  const others = { file_path: `input/${filePrefix(request)}-${file.name}`, content_type: file.contentType };
  return await formWith('file', file, others);
}

function assetReference(body: JsonObject): JsonValue | undefined {
  const { data: asset } = assetSchema.safeParse(body);
  return asset && { __type: 'core/ASSET', info: { id: asset.id } };
}
