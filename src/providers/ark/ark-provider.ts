import type { JsonObject } from '../../platform/text/json.ts';
import { z } from 'zod';
import type { CostRule } from '../../catalogue/prices/upstream-cost.ts';
import {
  jsonObjectIn,
  classifyCreate,
  codedErrorIn,
  parsedBodyOrPollStatus,
  answerOrErrorOf,
} from '../classify-upstream-answers.ts';
import type { Job, JobStatus, PolledProvider, RequestBody } from '../provider-contract.ts';
import { createIdNameWarning, findJobId } from '../jobs/find-job-id.ts';
import { cancelOutcomeOfState, createJobObjectReader } from '../jobs/vendor-job-object.ts';
import { findJobOfCreate, unreadableLookup } from '../jobs/pick-job-of-lost-create.ts';
import { createPolledProvider, type PolledProviderDeps, requestTimeoutsAfterCreate } from '../jobs/polled-provider.ts';
import { arkJobBody } from './ark-create-body.ts';
import { classifyRefusal, isMissingAtArk } from './ark-errors.ts';
import { arkStates, endedJobStatus, recordIn, recordsIn, candidatesInList } from './ark-job-objects.ts';

/** `config.options` are `paths`, `resultPath`, and `parameters`, which are added to each create. */
export type ArkProviderDeps = PolledProviderDeps & {
  /** With `perMillionTokens` the record of a job that has ended contains its cost. */
  readonly cost?: CostRule | undefined;
};

/** A list of the largest size that Ark allows takes about 1.5 MB. */
const maxAnswerBytes = 4_000_000;
/** The bounds of a list that is read for statuses, of one that is searched, and of the single reads after the former. */
const [maxBatch, maxListed, maxSingleReads] = [100, 500, 5];

/** Speaks the API of BytePlus ModelArk and Volcengine Ark, and of servers that offer it at other paths. */
export function createArkProvider(deps: ArkProviderDeps): PolledProvider {
  const { config, client, submitTimeoutMs, cost, warn } = deps;
  const { paths, resultPath } = optionsSchema.parse(config.options);
  const records = createJobObjectReader(
    {
      recordIn,
      isMissing: isMissingAtArk,
      states: arkStates,
      endOf: (record, state, job) => endedJobStatus(record, state, job, { resultPath, cost }),
    },
    warn,
  );
  const call = (method: string, path: string, timeoutMs: number, signal: AbortSignal, body?: RequestBody) =>
    answerOrErrorOf(client.call(method, path, { timeoutMs, signal, maxBytes: maxAnswerBytes, body }));
  const pathOf = ({ id }: Pick<Job, 'id'>) => paths.get.replace('{id}', encodeURIComponent(id));
  const readJob = (job: Job, signal: AbortSignal) =>
    call('GET', pathOf(job), requestTimeoutsAfterCreate.statusMs, signal);
  /** The newest records that match the filter, by default of the last seven days. */
  const listPath = (filter: readonly [string, string][], size: number) => {
    const query = new URLSearchParams([['page_num', '1'], ['page_size', String(size)], ...filter]);
    return `${paths.list}?${query.toString()}`;
  };
  const reportId = createIdNameWarning(warn);
  const statusOf = async (job: Job, signal: AbortSignal) => records.statusOf(await readJob(job, signal), job);
  return createPolledProvider(deps, {
    namesJobs: false,
    forgetsJobs: false,
    clips: 'link',
    submit: async (request, signal) => {
      const reply = await call('POST', paths.create, submitTimeoutMs, signal, await arkJobBody(request, config));
      const body = 'answer' in reply ? jsonObjectIn(reply.answer) : undefined;
      if (body !== undefined) reportId(findJobId(body));
      return classifyCreate(reply, { errorOf: codedErrorIn, jobOf, classify: classifyRefusal });
    },
    recover: async (lost, signal) => {
      const path = listPath([['filter.model', config.upstreamModel]], maxListed);
      const reply = await call('GET', path, requestTimeoutsAfterCreate.recoverMs, signal);
      const list = parsedBodyOrPollStatus(reply, (body) => candidatesInList(body, lost, maxListed));
      if ('status' in list) return unreadableLookup;
      return await findJobOfCreate(list.read.candidates, lost, list.read.isComplete);
    },
    statusOf,
    batch: {
      max: maxBatch,
      status: async (jobs, signal) => {
        const statuses = new Map<string, JobStatus>();
        if (jobs.length > 1) {
          const filter = jobs.map(({ id }): [string, string] => ['filter.task_ids', id]);
          const reply = await call('GET', listPath(filter, maxBatch), requestTimeoutsAfterCreate.statusMs, signal);
          const list = parsedBodyOrPollStatus(reply, recordsIn);
          if ('status' in list) return new Map(jobs.map(({ jobKey }) => [jobKey, list.status]));
          const listed = new Map(list.read.map((record) => [record.id, record]));
          for (const job of jobs) {
            const record = listed.get(job.id);
            if (record !== undefined) statuses.set(job.jobKey, records.statusIn(record, job));
          }
        }
        // A list may lag, so only a read of the job itself proves that it is missing.
        const unlisted = jobs.filter(({ jobKey }) => !statuses.has(jobKey)).slice(0, maxSingleReads);
        await Promise.all(unlisted.map(async (job) => statuses.set(job.jobKey, await statusOf(job, signal))));
        return statuses;
      },
    },
    cancel: async (job, signal) => {
      const readState = async () => {
        const found = records.read(await readJob(job, signal), job.id);
        return 'record' in found ? records.stateIn(found.record) : found.status.state;
      };
      const before = await readState();
      // The DELETE of a job that has ended would remove its record, and with it the cost.
      if (before !== 'queued') return cancelOutcomeOfState[before];
      await call('DELETE', pathOf(job), requestTimeoutsAfterCreate.cancelMs, signal);
      return cancelOutcomeOfState[await readState()];
    },
  });
}

const optionsSchema = z.object({
  paths: z.object({ create: z.string(), get: z.string(), list: z.string() }),
  resultPath: z.string(),
});

function jobOf(body: JsonObject): { readonly id: string } | undefined {
  const id = findJobId(body)?.id;
  return id === undefined ? undefined : { id };
}
