import type { JsonObject, JsonValue } from '../../platform/text/json.ts';
import { z } from 'zod';
import {
  jsonObjectIn,
  classifyCreate,
  codedErrorIn,
  type CreateRules,
  maxJobIdLength,
  parsedBodyOrPollStatus,
  answerOrErrorOf,
  storableUpstreamError,
} from '../classify-upstream-answers.ts';
import type { JobRequest, JobStatus, PolledProvider, RequestBody } from '../provider-contract.ts';
import { createJobObjectReader, type EndState, type JobObjectRules } from '../jobs/vendor-job-object.ts';
import { unreadableLookup, retryOrGiveUpLookup } from '../jobs/pick-job-of-lost-create.ts';
import { createPolledProvider, startSubmitCountdown } from '../jobs/polled-provider.ts';
import { formBody, type FormFile, jsonBody } from '../requests/request-bodies.ts';
import { jobFilePrefix } from '../requests/placeholder-values-and-template-media.ts';
import { uploadAndFillWorkflow, isVideoFileName, type WorkflowProviderDeps } from './upload-and-fill-workflow.ts';

const [callTimeoutMs, maxListed, maxAnswerBytes] = [15_000, 100, 4_000_000];

/**
 * Speaks the Comfy API v2: Comfy Cloud, managed deployments, or comfy-api-proxy before a ComfyUI. The job's name is its
 * `Idempotency-Key`, which is accepted once and never answered again, and its `metadata`, by which it is found in the list.
 */
export function createComfyV2Provider(deps: WorkflowProviderDeps): PolledProvider {
  const { config, workflow, client, submitTimeoutMs, warn } = deps;
  const records = createJobObjectReader(recordRules, warn);
  const call = (method: string, path: string, signal: AbortSignal, options: Partial<Sent> = {}) => {
    const limits = { timeoutMs: callTimeoutMs, maxBytes: maxAnswerBytes, signal };
    return answerOrErrorOf(client.call(method, `/api/v2${path}`, { ...limits, ...options }));
  };
  const findByName = async (jobKey: string, signal: AbortSignal) => {
    const reply = await call('GET', `/jobs?limit=${maxListed}`, signal);
    const list = parsedBodyOrPollStatus(reply, (body) => listSchema.safeParse(body).data);
    if ('status' in list) return list;
    const { jobs, truncated } = list.read;
    const isComplete = jobs.length < maxListed && !truncated;
    return { record: jobs.find(({ metadata }) => metadata === jobKey), isComplete };
  };
  return createPolledProvider(deps, {
    namesJobs: true,
    forgetsJobs: true,
    submit: async (request, signal) => {
      const { jobKey } = request;
      const leftMs = startSubmitCountdown(submitTimeoutMs);
      const filled = await uploadAndFillWorkflow(workflow(), request, config, {
        send: async (file) =>
          call('POST', '/assets', signal, { body: await assetForm(file, request), timeoutMs: leftMs() }),
        reference: assetReference,
      });
      if ('kind' in filled) return filled;
      const body = jsonBody({ workflow: filled.graph, metadata: jobKey });
      const headers = { 'idempotency-key': jobKey };
      const reply = await call('POST', '/jobs', signal, { body, headers, timeoutMs: leftMs() });
      const outcome = classifyCreate(reply, createRules);
      const answer = 'answer' in reply ? jsonObjectIn(reply.answer) : undefined;
      if (answer === undefined || codedErrorIn(answer)?.code !== keyIsUsed) return outcome;
      // The server has read an earlier create with this name: the job is in the list, or it never began.
      const found = await findByName(jobKey, signal);
      return 'record' in found && found.record !== undefined ? { kind: 'accepted', id: found.record.id } : outcome;
    },
    recover: async (lost, signal) => {
      const found = await findByName(lost.jobKey, signal);
      if ('status' in found) return unreadableLookup;
      if (found.record !== undefined) return { kind: 'found', id: found.record.id };
      return found.isComplete
        ? { kind: 'not_created' }
        : retryOrGiveUpLookup(lost, 'not in the list, which may lack jobs');
    },
    statusOf: async (job, signal) => records.statusOf(await call('GET', `/jobs/${job.id}`, signal), job),
    cancel: async (job, signal) => records.cancelOutcomeOf(await call('POST', `/jobs/${job.id}/cancel`, signal), job),
  });
}

type Sent = {
  readonly body: RequestBody;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
};

/** The id is part of a path without escapes. */
const jobId = z
  .string()
  .max(maxJobIdLength)
  .regex(/^[\w-]+$/);
const recordSchema = z.object({
  id: jobId,
  status: z.string(),
  metadata: z.string().optional().catch(undefined),
  progress: z
    .object({ value: z.number().min(0).max(1) })
    // The server sends zero if it has no progress to report.
    .transform(({ value }) => (value > 0 ? value * 100 : undefined))
    .optional()
    .catch(undefined),
  error: z
    .object({ code: z.string(), message: z.string().catch('') })
    .nullish()
    .catch(undefined),
  outputs: z
    .array(z.object({ name: z.string().catch(''), content_type: z.string().catch(''), url: z.string() }))
    .catch([]),
});
/** `truncated`: the server stopped before it had read all jobs, and before the list was full. */
const listSchema = z.object({ jobs: z.array(recordSchema), truncated: z.boolean().default(false) });

type JobRecord = z.output<typeof recordSchema>;

const recordRules: JobObjectRules<JobRecord> = {
  recordIn: (body) => recordSchema.safeParse(body).data,
  isMissing: (body, status) => status === 404 && codedErrorIn(body)?.code === 'not_found',
  states: {
    queued: 'queued',
    running: 'running',
    canceling: 'stopping',
    succeeded: 'succeeded',
    failed: 'failed',
    canceled: 'canceled',
    // The ComfyUI behind the server was restarted, or the job is more than a day old.
    expired: 'missing',
  },
  endOf,
};

function endOf({ error, status, outputs }: JobRecord, state: EndState): JobStatus {
  // The type of an output is `image` for videos, too, so its content type and its name are checked.
  const isVideo = (type: string, name: string) => type.startsWith('video/') || isVideoFileName(name);
  const video = outputs.findLast(({ name, content_type: type }) => isVideo(type, name));
  if (state === 'succeeded' && video !== undefined) return { state, result: { url: video.url } };
  const detail = state === 'succeeded' ? 'the workflow wrote no video' : (error?.message ?? status);
  return { state: 'failed', error: storableUpstreamError('upstream', error?.code ?? status, detail) };
}

/** The error of a key that was used before: the job of an earlier create may exist. */
const keyIsUsed = 'idempotency_key_reuse';

const createRules: CreateRules = {
  errorOf: codedErrorIn,
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

async function assetForm(file: FormFile, request: Pick<JobRequest, 'jobKey'>): Promise<RequestBody> {
  return await formBody([
    ['file', file],
    ['file_path', `input/${jobFilePrefix(request)}-${file.name}`],
    ['content_type', file.contentType],
  ]);
}

function assetReference(body: JsonObject): JsonValue | undefined {
  const { data: asset } = assetSchema.safeParse(body);
  return asset && { __type: 'core/ASSET', info: { id: asset.id } };
}
