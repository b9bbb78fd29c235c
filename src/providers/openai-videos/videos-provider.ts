import { z } from 'zod';
import {
  bodyOf,
  classifyCreate,
  classifyPoll,
  type CreateRules,
  createStateReader,
  declinesCancel,
  detailOf,
  maxJobIdLength,
  type Poll,
  replyOf,
  shownText,
  type VendorError,
  statusOfEach,
} from '../answers.ts';
import type {
  CancelOutcome,
  Fault,
  JobStatus,
  JsonObject,
  LostCall,
  PolledProvider,
  RecoverOutcome,
  RequestBody,
  PolledProviderDeps,
} from '../contract.ts';
import { downloadResult } from '../download-result.ts';
import { createBody, type Dialect, dialectNames, dialects } from './dialects.ts';

const [recoverTimeoutMs, statusTimeoutMs, cancelTimeoutMs] = [30_000, 10_000, 15_000];
const [maxRecordBytes, maxListBytes] = [256 * 1024, 4 * 1024 * 1024];
/** A create whose answer was lost may still be on its way; for so long a job that is not listed proves nothing. */
const arrivesWithinMs = 60_000;
/** Clocks of the server and of our database may differ by this. */
const clockSkewMs = 60_000;

/**
 * Speaks `/videos` below the base URL, in one of the dialects. Nobody there lets us name a job, so a lost answer is cleared up only
 * where the list of jobs shows their prompts. `config.options` are `dialect` and the entry's `parameters`.
 */
export function createVideosProvider(deps: PolledProviderDeps): PolledProvider {
  const { name, config, client, pollsPerSecond, submitTimeoutMs, warn } = deps;
  const dialect = dialects[z.enum(dialectNames).parse(config.options['dialect'])];
  const readState = createStateReader(states, warn);
  const call = (method: string, path: string, limits: { timeoutMs: number; signal: AbortSignal; body?: RequestBody }) =>
    replyOf(client.call(method, `/videos${path}`, { maxBytes: maxRecordBytes, ...limits }));
  const recordOf = async (id: string, signal: AbortSignal) => {
    const reply = await call('GET', `/${id}`, { timeoutMs: statusTimeoutMs, signal });
    const body = 'answer' in reply ? bodyOf(reply.answer) : undefined;
    const { data: record } = recordSchema.safeParse(body);
    const isOwn = body !== undefined && record?.id === id;
    // vLLM-Omni sends the record of a failed job with the HTTP status of its error, which may be 404.
    if (isOwn && isFinal(readState(record.status))) return { record, body };
    const poll = classifyPoll(reply, isMissing);
    if ('status' in poll) return poll;
    if (isOwn) return { record, body };
    return { status: { state: 'unclear', detail: detailOf(reply) } } satisfies Poll;
  };
  return {
    name,
    config,
    runs: 'upstream',
    namesJobs: false,
    forgetsJobs: dialect.forgetsJobs,
    images: 'file',
    maxBatch: 1,
    minPollMs: 500,
    maxPollsPerSecond: pollsPerSecond,
    submit: async (request, signal) => {
      const body = await createBody(dialect, request, config);
      return classifyCreate(await call('POST', '', { timeoutMs: submitTimeoutMs, signal, body }), createRules);
    },
    recover: async (lost, signal) => {
      if (!dialect.listsPrompts) return { kind: 'unknown', detail: 'this upstream has no list in which to look' };
      const limits = { timeoutMs: recoverTimeoutMs, signal, maxBytes: maxListBytes };
      return await findLost(await replyOf(client.call('GET', '/videos?limit=100&order=desc', limits)), lost);
    },
    status: async (jobs, signal) => {
      return await statusOfEach(jobs, async ({ id }) => {
        const found = await recordOf(id, signal);
        return 'record' in found ? statusOf(found.record, readState(found.record.status)) : found.status;
      });
    },
    result: async ({ id }, _known, to) => {
      const freshUrl = async (signal: AbortSignal) => {
        const found = await recordOf(id, signal);
        return dialect.videoUrl(id, 'body' in found ? found.body : {});
      };
      return await downloadResult(client, freshUrl, to, warn);
    },
    cancel: async ({ id }, signal) => {
      if (dialect.deletes === 'no') return 'runs_on';
      const reply = await call('DELETE', `/${id}`, { timeoutMs: cancelTimeoutMs, signal });
      const poll = classifyPoll(reply, isMissing);
      if ('body' in poll) return deletedOutcome(dialect, poll.body);
      if (poll.status.state === 'missing') return 'ended';
      return declinesCancel(reply) ? 'runs_on' : 'unclear';
    },
  };
}

/** In a URL as it is. */
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
});

type JobRecord = z.output<typeof recordSchema>;

const states = {
  queued: 'queued',
  pending: 'queued',
  in_progress: 'running',
  processing: 'running',
  running: 'running',
  completed: 'succeeded',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'failed',
  canceled: 'failed',
  expired: 'failed',
  deleted: 'failed',
} as const;

type State = (typeof states)[keyof typeof states];

function isFinal(state: State): boolean {
  return state === 'succeeded' || state === 'failed';
}

function statusOf(record: JobRecord, state: State): JobStatus {
  const { progress, usage, error } = record;
  if (state === 'queued' || state === 'running') return { state, ...(progress !== undefined && { progress }) };
  // OpenRouter bills in dollars.
  const cost = usage && { micros: Math.round(usage.cost * 1_000_000), currency: 'USD', basis: 'reported' as const };
  if (state === 'succeeded') return { state, ...(cost && { cost }) };
  const fault = faultOf('upstream', { code: record.status, message: '', ...plain(error ?? {}) });
  return { state, fault, ...(cost && { cost }) };
}

/** The servers' own error bodies: `error` of OpenAI and its resellers, `detail` of FastAPI. */
function errorOf(body: JsonObject): VendorError | undefined {
  const { data: error } = errorSchema.safeParse(body['error']);
  // OpenRouter says by 403 with reasons that the input was moderated; a 403 without them is about the key.
  if (error !== undefined) return { ...plain(error), ...(error.metadata !== undefined && { code: moderated }) };
  const { detail } = body;
  if (detail === undefined || detail === null) return undefined;
  return { message: typeof detail === 'string' ? detail : JSON.stringify(detail) };
}

function plain({ code, message = '' }: Partial<z.output<typeof errorSchema>>): VendorError {
  return { message, ...(code !== undefined && code !== null && { code: String(code) }) };
}

/** "Not Found" is what FastAPI says of a path that does not exist: a wrong base URL proves nothing about a job. */
function isMissing(body: JsonObject, status: number): boolean {
  const error = status === 404 ? errorOf(body) : undefined;
  return error !== undefined && error.message !== 'Not Found';
}

const createRules: CreateRules = {
  errorOf,
  jobOf: (body) => {
    const { data: id } = jobId.safeParse(body['id']);
    return id === undefined ? undefined : { id };
  },
  classify: ({ status, detail, ...error }) => {
    if (status === 403 && error.code === moderated) return { kind: 'refused', fault: faultOf('content', error) };
    if (status === 404) return { kind: 'not_accepted', reason: 'operator', detail };
    if (status === 400 || status === 413 || status === 422) return { kind: 'refused', fault: faultOf('input', error) };
    return undefined;
  },
};

const moderated = 'moderated';
const contentWords = /content.?policy|moderat|safety|sensitive|nsfw|sentinel/i;

/** What the words say counts more than `otherwise`. */
function faultOf(otherwise: Fault['kind'], { code = '', message = '' }: VendorError): Fault {
  const isContent = contentWords.test(code.slice(0, 100)) || contentWords.test(message.slice(0, 1000));
  return { kind: isContent ? 'content' : otherwise, code: shownText(code, 100), detail: shownText(message) };
}

function deletedOutcome({ deletes }: Dialect, { status }: JsonObject): CancelOutcome {
  if (deletes === 'stops') return 'cancelled';
  return status === 'cancelled' || status === 'canceled' ? 'cancelled' : 'runs_on';
}

const listSchema = z.object({
  data: z.array(z.object({ id: jobId, prompt: z.string(), created_at: z.number() })),
});

/** The one job of the list that can only be ours: its prompt, its time, and no row of ours that has it already. */
async function findLost(reply: Awaited<ReturnType<typeof replyOf>>, lost: LostCall): Promise<RecoverOutcome> {
  const poll = classifyPoll(reply, () => false);
  const { data: list } = listSchema.safeParse('body' in poll ? poll.body : undefined);
  if (list === undefined) return { kind: 'later', afterMs: 15_000 };
  const since = lost.intendedAt - clockSkewMs;
  const alike = list.data.filter((job) => job.prompt === lost.input.prompt && job.created_at * 1000 >= since);
  const claimed = await lost.claimed(alike.map(({ id }) => id));
  const candidates = alike.filter(({ id }) => !claimed.has(id));
  const [candidate] = candidates;
  if (candidate !== undefined && candidates.length === 1 && lost.rivals === 0)
    return { kind: 'found', id: candidate.id };
  if (candidates.length === 0 && Date.now() < lost.intendedAt + arrivesWithinMs)
    return { kind: 'later', afterMs: 5_000 };
  const detail = `${candidates.length} jobs there could be this one, and ${lost.rivals} other calls of ours are unanswered`;
  return { kind: 'unknown', detail };
}
