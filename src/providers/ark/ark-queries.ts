import { classifyPoll, detailOf, type Poll, type Reply, replyOf } from '../answers.ts';
import type { Job, JsonObject, UpstreamClient } from '../contract.ts';
import { errorOf } from './ark-faults.ts';
import { type ArkRecord, recordIn, recordsIn } from './ark-records.ts';

// Questions to Ark, which change nothing there.

export type ArkPaths = { readonly create: string; readonly get: string; readonly list: string };

type NoVerdict = Extract<Poll, { status: object }>;

export type ArkQueries = {
  /** The job's record, unless the answer is no verdict. */
  record(job: Pick<Job, 'id'>, signal: AbortSignal): Promise<{ readonly record: ArkRecord } | NoVerdict>;
  /** The newest records that fit the filter, at most `size`, by default of the last seven days. */
  records(query: ListQuery, signal: AbortSignal): Promise<{ readonly records: readonly ArkRecord[] } | NoVerdict>;
};

export type ListQuery = {
  readonly size: number;
  readonly filter: readonly [name: string, value: string][];
  readonly timeoutMs: number;
};

const recordTimeoutMs = 10_000;
/** A list of the largest size that Ark allows takes about 1.5 MB. */
export const maxAnswerBytes = 4_000_000;

export function createArkQueries(client: UpstreamClient, paths: ArkPaths): ArkQueries {
  const get = async (path: string, timeoutMs: number, signal: AbortSignal): Promise<Reply> =>
    await replyOf(client.call('GET', path, { timeoutMs, signal, maxBytes: maxAnswerBytes }));
  return {
    record: async (job, signal) => {
      const reply = await get(pathOfJob(paths, job), recordTimeoutMs, signal);
      const poll = classifyPoll(reply, isMissing);
      if ('status' in poll) return poll;
      const record = recordIn(poll.body);
      // An answer about another job is none.
      return record?.id === job.id ? { record } : noVerdict(reply);
    },
    records: async ({ size, filter, timeoutMs }, signal) => {
      const query = new URLSearchParams([['page_num', '1'], ['page_size', String(size)], ...filter]);
      const reply = await get(`${paths.list}?${query.toString()}`, timeoutMs, signal);
      const poll = classifyPoll(reply, () => false);
      if ('status' in poll) return poll;
      const records = recordsIn(poll.body);
      return records === undefined ? noVerdict(reply) : { records };
    },
  };
}

export function pathOfJob({ get }: ArkPaths, { id }: Pick<Job, 'id'>): string {
  return get.replace('{id}', encodeURIComponent(id));
}

function noVerdict(reply: Reply): NoVerdict {
  return { status: { state: 'unclear', detail: detailOf(reply) } };
}

/** Ark's own words, with the dot; the 404 of a proxy proves nothing. */
function isMissing(body: JsonObject, status: number): boolean {
  return status === 404 && /^NotFound\.?$/.test(errorOf(body)?.code ?? '');
}
