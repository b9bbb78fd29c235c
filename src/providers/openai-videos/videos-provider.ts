import type { JsonObject } from '../../platform/text/json.ts';
import { z } from 'zod';
import { videoDialects } from '../../catalogue/file/provider-schema.ts';
import {
  jsonObjectIn,
  classifyCreate,
  bodyOrStatusOfPoll,
  type CreateRules,
  maxJobIdLength,
  parsedBodyOrPollStatus,
  answerOrErrorOf,
  storableUpstreamError,
  type VendorError,
} from '../classify-upstream-answers.ts';
import type {
  CancelOutcome,
  UpstreamErrorReason,
  JobStatus,
  PolledProvider,
  RequestBody,
} from '../provider-contract.ts';
import { createIdNameWarning, findJobId } from '../jobs/find-job-id.ts';
import {
  createJobObjectReader,
  type EndState,
  cancelOutcomeWithoutJob,
  type JobObjectRules,
} from '../jobs/vendor-job-object.ts';
import {
  findJobOfCreate,
  isSinceCreate,
  listsAllSinceCreate,
  unreadableLookup,
} from '../jobs/pick-job-of-lost-create.ts';
import { createPolledProvider, type PolledProviderDeps, requestTimeoutsAfterCreate } from '../jobs/polled-provider.ts';
import { bodyOfCreate, type VideosDialect, dialects } from './videos-dialects.ts';

const [maxRecordBytes, maxListBytes, maxListed] = [256 * 1024, 4 * 1024 * 1024, 100];

/**
 * Speaks `/videos` below the base URL, in one of the dialects. Jobs have no names of ours there, so a lost one is found only where
 * the list of jobs shows their prompts. `config.options` are `dialect` and the entry's `parameters`.
 */
export function createVideosProvider(deps: PolledProviderDeps): PolledProvider {
  const { config, client, submitTimeoutMs, warn } = deps;
  const dialect = dialects[z.enum(videoDialects).parse(config.options['dialect'])];
  const records = createJobObjectReader(
    { ...recordRules, endOf: (record, state) => endOf(record, state, dialect) },
    warn,
  );
  const reportId = createIdNameWarning(warn);
  const call = (method: string, path: string, timeoutMs: number, signal: AbortSignal, body?: RequestBody) =>
    answerOrErrorOf(client.call(method, `/videos${path}`, { timeoutMs, signal, maxBytes: maxRecordBytes, body }));
  return createPolledProvider(deps, {
    namesJobs: false,
    forgetsJobs: dialect.forgetsJobs,
    ...(dialect.clips !== undefined && { clips: dialect.clips }),
    submit: async (request, signal) => {
      const sent = await bodyOfCreate(dialect, request, config);
      const reply = await call('POST', '', submitTimeoutMs, signal, sent);
      const body = 'answer' in reply ? jsonObjectIn(reply.answer) : undefined;
      if (body !== undefined) reportId(findJobId(body));
      return classifyCreate(reply, createRules);
    },
    recover: async (lost, signal) => {
      if (!dialect.listsPrompts) return { kind: 'unknown', detail: 'this upstream has no list of jobs with prompts' };
      const limits = { timeoutMs: requestTimeoutsAfterCreate.recoverMs, signal, maxBytes: maxListBytes };
      const reply = await answerOrErrorOf(client.call('GET', `/videos?limit=${maxListed}&order=desc`, limits));
      const list = parsedBodyOrPollStatus(reply, (body) => listSchema.safeParse(body).data);
      if ('status' in list) return unreadableLookup;
      const { prompt } = lost.input;
      const { data: jobs, has_more: isCut = jobs.length >= maxListed } = list.read;
      const candidates = jobs.filter((job) => job.prompt === prompt && isSinceCreate(job.created_at, lost));
      return await findJobOfCreate(candidates, lost, listsAllSinceCreate(jobs, isCut, lost));
    },
    statusOf: async (job, signal) => {
      const reply = await call('GET', `/${job.id}`, requestTimeoutsAfterCreate.statusMs, signal);
      const body = 'answer' in reply ? jsonObjectIn(reply.answer) : undefined;
      const record = body && recordRules.recordIn(body);
      const status = record?.id === job.id ? records.statusIn(record, job) : undefined;
      // vLLM-Omni sends the record of a failed job with the HTTP status of its error, which may be 404.
      if (status?.state === 'succeeded' || status?.state === 'failed') return status;
      return records.statusOf(reply, job);
    },
    cancel: async ({ id }, signal) => {
      if (dialect.deletes === 'no') return 'runs_on';
      const reply = await call('DELETE', `/${id}`, requestTimeoutsAfterCreate.cancelMs, signal);
      const poll = bodyOrStatusOfPoll(reply, isMissing);
      return 'body' in poll ? deletedOutcome(dialect, poll.body) : cancelOutcomeWithoutJob(reply, poll);
    },
  });
}

/** The id is part of a URL without escapes. */
const jobId = z
  .string()
  .max(maxJobIdLength)
  .regex(/^[\w-][\w.:=~-]*$/);
const errorSchema = z.object({
  code: z.union([z.string(), z.number()]).nullish().catch(undefined),
  message: z.string().catch(''),
  metadata: z
    .object({ reasons: z.array(z.unknown()) })
    .optional()
    .catch(undefined),
});
const recordSchema = z.object({
  id: jobId,
  status: z.string(),
  progress: z.number().min(0).max(100).optional().catch(undefined),
  error: z
    .union([errorSchema, z.string().transform((message) => ({ message }))])
    .nullish()
    .catch(undefined),
  usage: z.object({ cost: z.number().nonnegative() }).optional().catch(undefined),
  url: z.string().optional().catch(undefined),
});
type JobRecord = z.output<typeof recordSchema>;

const listSchema = z.object({
  data: z.array(z.object({ id: jobId, prompt: z.string(), created_at: z.number() })),
  has_more: z.boolean().optional().catch(undefined),
});

const recordRules = {
  recordIn: (body) => {
    const found = findJobId(body);
    return found && recordSchema.safeParse({ ...found.record, id: found.id }).data;
  },
  isMissing,
  states: {
    queued: 'queued',
    pending: 'queued',
    in_progress: 'running',
    processing: 'running',
    running: 'running',
    completed: 'succeeded',
    succeeded: 'succeeded',
    failed: 'failed',
    cancelled: 'canceled',
    canceled: 'canceled',
    expired: 'failed',
    deleted: 'failed',
  },
} as const satisfies Omit<JobObjectRules<JobRecord>, 'endOf'>;

function endOf(record: JobRecord, state: EndState, { videoUrl }: VideosDialect): JobStatus {
  const { usage, error, status } = record;
  // OpenRouter bills in dollars.
  const cost = usage && {
    cost: { micros: Math.round(usage.cost * 1_000_000), currency: 'USD', basis: 'reported' as const },
  };
  if (state === 'succeeded') return { state, result: { url: videoUrl(record) }, ...cost };
  const failure = upstreamErrorOf('upstream', { code: status, message: '', ...plain(error ?? {}) });
  return { state: 'failed', error: failure, ...cost };
}

/** Reads the servers' own error bodies: `error` of OpenAI and its resellers, `detail` of FastAPI. */
function errorOf(body: JsonObject): VendorError | undefined {
  const { data: error } = errorSchema.safeParse(body['error']);
  // A 403 of OpenRouter with reasons means that the input was moderated; one without them is about the key.
  if (error !== undefined) return { ...plain(error), ...(error.metadata !== undefined && { code: moderated }) };
  const { detail } = body;
  if (detail === undefined || detail === null) return undefined;
  return { message: typeof detail === 'string' ? detail : JSON.stringify(detail) };
}

function plain({ code, message = '' }: Partial<z.output<typeof errorSchema>>): VendorError {
  return { message, ...(code !== undefined && code !== null && { code: String(code) }) };
}

/** FastAPI's "Not Found" means that the path does not exist: a wrong base URL proves nothing about a job. */
function isMissing(body: JsonObject, status: number): boolean {
  const error = status === 404 ? errorOf(body) : undefined;
  return error !== undefined && error.message !== 'Not Found';
}

const createRules: CreateRules = {
  errorOf,
  jobOf: (body) => {
    const { data: id } = jobId.safeParse(findJobId(body)?.id);
    return id === undefined ? undefined : { id };
  },
  classify: ({ status, detail, ...error }) => {
    if (status === 403 && error.code === moderated)
      return { kind: 'refused', error: upstreamErrorOf('content', error) };
    if (status === 404) return { kind: 'not_accepted', reason: 'operator', detail };
    if (status === 400 || status === 413 || status === 422)
      return { kind: 'refused', error: upstreamErrorOf('input', error) };
    return undefined;
  },
};

const moderated = 'moderated';
const contentWords = /content.?policy|moderat|safety|sensitive|nsfw|sentinel/i;

function upstreamErrorOf(
  otherwise: UpstreamErrorReason['kind'],
  { code = '', message = '' }: VendorError,
): UpstreamErrorReason {
  const isContent = contentWords.test(code.slice(0, 100)) || contentWords.test(message.slice(0, 1000));
  return storableUpstreamError(isContent ? 'content' : otherwise, code, message);
}

function deletedOutcome({ deletes }: VideosDialect, { status }: JsonObject): CancelOutcome {
  if (deletes === 'stops') return 'cancelled';
  return status === 'cancelled' || status === 'canceled' ? 'cancelled' : 'runs_on';
}
