import type { JsonObject } from '../../platform/text/json.ts';
import { z } from 'zod';
import {
  classifyCreate,
  bodyOrStatusOfPoll,
  type CreateRules,
  unclearPollOf,
  parsedBodyOrPollStatus,
  type AnswerOrError,
  answerOrErrorOf,
  storableUpstreamError,
} from '../classify-upstream-answers.ts';
import type { UpstreamErrorReason, Job, JobStatus, PolledProvider, RequestBody } from '../provider-contract.ts';
import { unreadableLookup } from '../jobs/pick-job-of-lost-create.ts';
import { createPolledProvider, startSubmitCountdown } from '../jobs/polled-provider.ts';
import { formBody, type FormFile, jsonBody } from '../requests/request-bodies.ts';
import { jobFilePrefix } from '../requests/placeholder-values-and-template-media.ts';
import { uploadAndFillWorkflow, isVideoFileName, type WorkflowProviderDeps } from './upload-and-fill-workflow.ts';

const callTimeoutMs = 15_000;
/** Queue and history repeat whole graphs. */
const maxAnswerBytes = 16 * 1024 * 1024;

type Named = Pick<Job, 'jobKey'>;

/**
 * Speaks to a ComfyUI server. We name each job, but the server runs a name as often as it is sent, so each create first checks whether the
 * job exists. Queue and history are in its memory; the files that it wrote survive a restart, and their names begin with the job's.
 */
export function createComfyuiProvider(deps: WorkflowProviderDeps): PolledProvider {
  const { config, workflow, client, submitTimeoutMs } = deps;
  const call = (method: string, path: string, signal: AbortSignal, body?: RequestBody, timeoutMs = callTimeoutMs) =>
    answerOrErrorOf(client.call(method, path, { timeoutMs, maxBytes: maxAnswerBytes, signal, body }));
  const readQueue = async (signal: AbortSignal) =>
    parsedBodyOrPollStatus(await call('GET', '/queue', signal), (body) => queueSchema.safeParse(body).data);
  /** A job that has left the queue is in the history, or has left a file, or is missing. */
  const statusIn = async (
    queue: Awaited<ReturnType<typeof readQueue>>,
    job: Named,
    signal: AbortSignal,
  ): Promise<JobStatus> => {
    if ('status' in queue) return queue.status;
    if (queue.read.queue_running.includes(job.jobKey)) return { state: 'running' };
    if (queue.read.queue_pending.includes(job.jobKey)) return { state: 'queued' };
    const reply = await call('GET', `/history/${job.jobKey}`, signal);
    const poll = bodyOrStatusOfPoll(reply);
    if ('status' in poll) return poll.status;
    const entry = poll.body[job.jobKey];
    if (entry !== undefined) return endOf(entry, reply);
    return statusByFile(await call('HEAD', viewPath(firstFile(job)), signal), job);
  };
  const statusOf = async (job: Named, signal: AbortSignal) => await statusIn(await readQueue(signal), job, signal);

  return createPolledProvider(deps, {
    namesJobs: true,
    forgetsJobs: true,
    submit: async (request, signal) => {
      const leftMs = startSubmitCountdown(submitTimeoutMs);
      const before = await statusOf(request, signal);
      if (before.state === 'unclear') return { kind: 'not_accepted', reason: 'unreachable', detail: before.detail };
      if (before.state !== 'missing') return { kind: 'accepted', id: request.jobKey };
      const filled = await uploadAndFillWorkflow(workflow(), request, config, {
        send: async (file) => call('POST', '/upload/image', signal, await uploadForm(file, request), leftMs()),
        reference: storedName,
      });
      if ('kind' in filled) return filled;
      const body = jsonBody({ prompt: filled.graph, prompt_id: request.jobKey, client_id: request.jobKey });
      return classifyCreate(await call('POST', '/prompt', signal, body, leftMs()), rulesFor(request));
    },
    recover: async (lost, signal) => {
      const { state } = await statusOf(lost, signal);
      if (state === 'unclear') return unreadableLookup;
      return state === 'missing' ? { kind: 'not_created' } : { kind: 'found', id: lost.jobKey };
    },
    statusOf,
    batch: {
      max: 100,
      status: async (jobs, signal) => {
        const queue = await readQueue(signal);
        const read = jobs.map(async (job) => [job.jobKey, await statusIn(queue, job, signal)] as const);
        return new Map(await Promise.all(read));
      },
    },
    cancel: async (job, signal) => {
      await call('POST', '/queue', signal, jsonBody({ delete: [job.jobKey] }));
      // An interrupt without a name would stop any job that runs.
      await call('POST', '/interrupt', signal, jsonBody({ prompt_id: job.jobKey }));
      const after = await statusOf(job, signal);
      if (after.state === 'missing' || after.state === 'succeeded') return 'ended';
      if (after.state === 'failed') return after.error.code === interrupted ? 'cancelled' : 'ended';
      // The server notices an interrupt at the next step of the sampler, so a job that still runs proves nothing.
      return 'unclear';
    },
  });
}

const entryInQueue = z
  .tuple([z.unknown(), z.string()])
  .rest(z.unknown())
  .transform(([, id]) => id);
const queueSchema = z.object({ queue_running: z.array(entryInQueue), queue_pending: z.array(entryInQueue) });
const fileSchema = z.object({
  filename: z.string(),
  subfolder: z.string().catch(''),
  type: z.string().catch('output'),
});
const historySchema = z.object({
  outputs: z.record(z.string(), z.record(z.string(), z.unknown())).catch({}),
  status: z.object({
    status_str: z.string(),
    messages: z.array(z.tuple([z.string(), z.unknown()])).catch([]),
  }),
});
const executionError = z.object({ exception_message: z.string(), exception_type: z.string().catch('') });
const interrupted = 'execution_interrupted';

type OutputFile = z.output<typeof fileSchema>;

function endOf(entry: unknown, reply: AnswerOrError): JobStatus {
  const { data } = historySchema.safeParse(entry);
  if (data === undefined) return unclearPollOf(reply).status;
  const { outputs, status } = data;
  if (status.status_str !== 'success') return { state: 'failed', error: upstreamErrorOf(status.messages) };
  const files = Object.values(outputs).flatMap((lists) => Object.values(lists).flat());
  const videos = files.map((file) => fileSchema.safeParse(file).data).filter((file) => file !== undefined);
  const video = videos.findLast(({ filename, type }) => type === 'output' && isVideoFileName(filename));
  if (video !== undefined) return { state: 'succeeded', result: { url: viewPath(video) } };
  return { state: 'failed', error: { kind: 'upstream', detail: 'the workflow wrote no video' } };
}

function upstreamErrorOf(messages: readonly (readonly [string, unknown])[]): UpstreamErrorReason {
  if (messages.some(([event]) => event === interrupted))
    return storableUpstreamError('upstream', interrupted, 'the job was interrupted');
  const error = messages.find(([event]) => event === 'execution_error')?.[1];
  const { exception_type: code = '', exception_message: message = '' } = executionError.safeParse(error).data ?? {};
  return storableUpstreamError('upstream', code, message);
}

/** The name under which a workflow that uses `{{prefix}}` saves the first video of a job. */
function firstFile(job: Named): OutputFile {
  const [subfolder = '', stem = ''] = jobFilePrefix(job).split('/');
  return { filename: `${stem}_00001_.mp4`, subfolder, type: 'output' };
}

function viewPath(file: OutputFile): string {
  return `/view?${new URLSearchParams(file).toString()}`;
}

/** Queue and history are lost in a restart, the file of a job that had ended is not. */
function statusByFile(reply: AnswerOrError, job: Named): JobStatus {
  const status = 'answer' in reply ? reply.answer.status : undefined;
  if (status === 200) return { state: 'succeeded', result: { url: viewPath(firstFile(job)) } };
  return status === 404 ? { state: 'missing' } : unclearPollOf(reply).status;
}

const uploadSchema = z.object({ name: z.string(), subfolder: z.string().catch('') });

/** `/upload/image` takes files of any kind. Each file has its own folder, because files of one name overwrite each other. */
async function uploadForm(file: FormFile, job: Named): Promise<RequestBody> {
  const stem = file.name.slice(0, file.name.lastIndexOf('.'));
  return await formBody([
    ['image', file],
    ['subfolder', `${jobFilePrefix(job)}-${stem}`],
    ['overwrite', 'true'],
  ]);
}

function storedName(body: JsonObject): string | undefined {
  const { data } = uploadSchema.safeParse(body);
  if (data === undefined) return undefined;
  return data.subfolder === '' ? data.name : `${data.subfolder}/${data.name}`;
}

const refusalSchema = z.object({
  error: z.union([z.string(), z.object({ type: z.string().catch(''), message: z.string().catch('') })]),
  node_errors: z.record(z.string(), z.object({ errors: z.array(z.object({ type: z.string() })).catch([]) })).catch({}),
});

/** The errors of a node's validation that the values of a task cause; all others are errors of the workflow. */
const inputErrors = ['value_bigger_than_max', 'value_smaller_than_min'];

function rulesFor(request: Named): CreateRules {
  return {
    errorOf: (body) => {
      const { data } = refusalSchema.safeParse(body);
      if (data === undefined) return undefined;
      const types = Object.values(data.node_errors).flatMap(({ errors }) => errors.map(({ type }) => type));
      const isInput = types.length > 0 && types.every((type) => inputErrors.includes(type));
      if (isInput) return { code: 'input' };
      return { code: typeof data.error === 'string' ? data.error : data.error.type };
    },
    jobOf: (body) => (body['prompt_id'] === request.jobKey ? { id: request.jobKey } : undefined),
    classify: ({ status, code, detail }) => {
      if (status !== 400) return undefined;
      if (code === 'input') return { kind: 'refused', error: { kind: 'input', detail } };
      return { kind: 'not_accepted', reason: 'operator', detail };
    },
  };
}
