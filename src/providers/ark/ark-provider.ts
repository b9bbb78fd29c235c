import { z } from 'zod';
import type { CostRule } from '../../domain/catalogue/cost.ts';
import { classifyCreate, createStateReader, replyOf } from '../answers.ts';
import type {
  CancelOutcome,
  FrozenConfig,
  Job,
  JobRequest,
  JobStatus,
  JsonObject,
  PolledProvider,
  RequestBody,
  PolledProviderDeps,
} from '../contract.ts';
import { downloadResult } from '../download-result.ts';
import { imageDataUrls } from '../image-parts.ts';
import { classifyRefusal, errorOf } from './ark-faults.ts';
import { type ArkQueries, createArkQueries, maxAnswerBytes, pathOfJob } from './ark-queries.ts';
import { type ArkRecord, type ArkState, resultUrlOf, states, statusOf } from './ark-records.ts';
import { recoverJob } from './ark-recover.ts';

/** `config.options` are `paths`, `resultPath`, and `parameters`, which are added to each create. */
export type ArkProviderDeps = PolledProviderDeps & {
  /** With `perMillionTokens` a job that has ended tells what it cost. */
  readonly cost?: CostRule;
};

const [statusTimeoutMs, cancelTimeoutMs] = [10_000, 10_000];
/** Ark takes 64 MB in all. */
const maxImageBytes = 60_000_000;

/** Speaks the API of BytePlus ModelArk and Volcengine Ark, and of servers that offer it at other paths. */
export function createArkProvider(deps: ArkProviderDeps): PolledProvider {
  const { name, config, client, pollsPerSecond, submitTimeoutMs, cost, warn } = deps;
  const { paths, resultPath } = optionsSchema.parse(config.options);
  const readState = createStateReader(states, warn);
  const queries = createArkQueries(client, paths);
  const read = (record: ArkRecord, job: Job) => statusOf(record, readState(record.status), job, { resultPath, cost });
  return {
    name,
    config,
    runs: 'upstream',
    namesJobs: false,
    forgetsJobs: false,
    images: 'file',
    maxBatch,
    minPollMs: 500,
    maxPollsPerSecond: pollsPerSecond,
    submit: async (request, signal) => {
      const body = await requestBody(request, config);
      const limits = { timeoutMs: submitTimeoutMs, maxBytes: maxAnswerBytes, signal };
      const reply = await replyOf(client.call('POST', paths.create, { ...limits, body }));
      return classifyCreate(reply, { errorOf, jobOf, classify: classifyRefusal });
    },
    recover: async (lost, signal) => await recoverJob(queries, config.upstreamModel, lost, signal),
    status: async (jobs, signal) => await statusesOf(queries, jobs, read, signal),
    result: async (job, known, to) => {
      let first = known?.['url'];
      const freshUrl = async (signal: AbortSignal) => {
        const url = typeof first === 'string' ? first : await urlOf(queries, job, resultPath, signal);
        first = undefined;
        return url;
      };
      return await downloadResult(client, freshUrl, to, warn);
    },
    cancel: async (job, signal) => {
      const look = async (): Promise<CancelOutcome | 'queued'> => {
        const found = await queries.record(job, signal);
        if ('record' in found) return cancelOutcomes[readState(found.record.status)];
        return found.status.state === 'missing' ? 'ended' : 'unclear';
      };
      const before = await look();
      // Of a job that has ended DELETE would remove the record, and with it what it cost.
      if (before !== 'queued') return before;
      const limits = { timeoutMs: cancelTimeoutMs, maxBytes: maxAnswerBytes, signal };
      await replyOf(client.call('DELETE', pathOfJob(paths, job), limits));
      const after = await look();
      return after === 'queued' ? 'runs_on' : after;
    },
  };
}

const optionsSchema = z.object({
  paths: z.object({ create: z.string(), get: z.string(), list: z.string() }),
  resultPath: z.string(),
});

async function requestBody(request: JobRequest, { upstreamModel, options }: FrozenConfig): Promise<RequestBody> {
  const { prompt, ratio, duration, resolution, generateAudio } = request.input;
  const images = await imageDataUrls(await request.images(), maxImageBytes);
  const parameters = z.record(z.string(), z.json()).catch({}).parse(options['parameters']);
  const body = {
    resolution,
    watermark: false,
    ...parameters,
    model: upstreamModel,
    content: [
      { type: 'text', text: prompt },
      ...images.map((url) => ({ type: 'image_url', image_url: { url }, role: 'reference_image' })),
    ],
    ratio,
    duration,
    generate_audio: generateAudio,
    safety_identifier: request.accountHash,
    // A job that waits in Ark's queue for longer is of no use any more. Ark takes one hour to three days.
    execution_expires_after: Math.min(259_200, Math.max(3600, Math.ceil(request.deadlineMs / 1000))),
  };
  return { contentType: 'application/json', bytes: JSON.stringify(body) };
}

const createdSchema = z.object({ id: z.string().optional(), task_id: z.string().optional() });

/** Servers of the same kind call the id of a new job `task_id`. */
function jobOf(body: JsonObject): { readonly id: string } | undefined {
  const created = createdSchema.safeParse(body).data;
  const id = created?.id ?? created?.task_id;
  return id === undefined ? undefined : { id };
}

/** Jobs that a list is asked for, and those of them that are then asked about alone. */
const [maxBatch, maxLooks] = [100, 5];

type Read = (record: ArkRecord, job: Job) => JobStatus;

/** A list may lag, so a job that it does not mention is asked about alone: only then the answer can tell that it is missing. */
async function statusesOf(queries: ArkQueries, jobs: readonly Job[], read: Read, signal: AbortSignal) {
  const statuses = new Map<string, JobStatus>();
  let left = jobs;
  if (jobs.length > 1) {
    const filter = jobs.map(({ id }): [string, string] => ['filter.task_ids', id]);
    const listed = await queries.records({ size: maxBatch, filter, timeoutMs: statusTimeoutMs }, signal);
    if ('status' in listed) return new Map(jobs.map(({ jobKey }) => [jobKey, listed.status]));
    const records = new Map(listed.records.map((record) => [record.id, record]));
    left = jobs.filter((job) => {
      const record = records.get(job.id);
      if (record !== undefined) statuses.set(job.jobKey, read(record, job));
      return record === undefined;
    });
  }
  const looks = left.slice(0, maxLooks).map(async (job) => {
    const found = await queries.record(job, signal);
    statuses.set(job.jobKey, 'status' in found ? found.status : read(found.record, job));
  });
  await Promise.all(looks);
  return statuses;
}

async function urlOf(queries: ArkQueries, job: Job, resultPath: string, signal: AbortSignal): Promise<string> {
  const found = await queries.record(job, signal);
  const url = 'record' in found ? resultUrlOf(found.record, resultPath) : undefined;
  if (url === undefined) throw new Error('the record of the job has no address of a video');
  return url;
}

const cancelOutcomes: Record<ArkState, CancelOutcome | 'queued'> = {
  queued: 'queued',
  running: 'runs_on',
  succeeded: 'ended',
  failed: 'ended',
  cancelled: 'cancelled',
  expired: 'ended',
};
