import { z } from 'zod';
import { isObject, type JsonObject, type JsonValue } from '../../platform/text/json.ts';
import { type CostRule, estimateCost } from '../../catalogue/prices/upstream-cost.ts';
import type { Cost, Job, JobStatus, LostCreateToRecover } from '../provider-contract.ts';
import { findJobId } from '../jobs/find-job-id.ts';
import type { EndState, JobObjectRules } from '../jobs/vendor-job-object.ts';
import { isSinceCreate, listsAllSinceCreate } from '../jobs/pick-job-of-lost-create.ts';
import { jobFailure } from './ark-errors.ts';

/** `body` is the whole record. */
export type ArkRecord = { readonly id: string; readonly status: string; readonly body: JsonObject };

/** Servers of the same kind wrap a single record in `task`. */
export function recordIn(value: JsonValue | undefined): ArkRecord | undefined {
  const body = isObject(value) && isObject(value['task']) ? value['task'] : value;
  const found = isObject(body) ? findJobId(body) : undefined;
  if (found === undefined) return undefined;
  const { id, record } = found;
  const { status } = record;
  return typeof status === 'string' ? { id, status, body: record } : undefined;
}

/** Returns the records of a list; undefined for any other body. */
export function recordsIn(body: JsonObject): readonly ArkRecord[] | undefined {
  return itemsIn(body)?.flatMap((item) => recordIn(item) ?? []);
}

function itemsIn({ items }: JsonObject): readonly JsonValue[] | undefined {
  // The type of a JSON value does not distinguish an array from an object.
  return Array.isArray(items) ? (items as readonly JsonValue[]) : undefined;
}

export const arkStates: JobObjectRules<ArkRecord>['states'] = {
  queued: 'queued',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'canceled',
  expired: 'failed',
};

type EndRules = { readonly resultPath: string; readonly cost: CostRule | undefined };

export function endedJobStatus(record: ArkRecord, state: EndState, job: Job, rules: EndRules): JobStatus {
  const cost = costOf(record.body, job, rules.cost);
  const billed = cost && { cost };
  if (state !== 'succeeded') return { state: 'failed', error: jobFailure(record.body, record.status), ...billed };
  const url = resultUrlOf(record, rules.resultPath);
  return { state, ...(url !== undefined && { result: { url } }), ...billed };
}

/** Returns the address of the video: `path` names fields with dots between them. */
function resultUrlOf({ body }: ArkRecord, path: string): string | undefined {
  let value: JsonValue | undefined = body;
  for (const name of path.split('.')) value = isObject(value) ? value[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

const usageSchema = z
  .object({ total_tokens: z.int().positive().optional(), completion_tokens: z.int().positive().optional() })
  .transform(({ total_tokens: total, completion_tokens: completion }) => total ?? completion);

/** Ark bills tokens; without them only the estimate is known. */
function costOf(body: JsonObject, { input }: Job, rule: CostRule | undefined): Cost | undefined {
  const tokens = usageSchema.safeParse(body['usage']).data;
  if (rule?.perMillionTokens === undefined || tokens === undefined) return undefined;
  const cost = estimateCost(rule, { input, tokens });
  return cost === undefined ? undefined : { ...cost, basis: 'reported' };
}

const originSchema = z.object({
  created_at: z.number(),
  safety_identifier: z.string().optional().catch(undefined),
  ratio: z.string().optional().catch(undefined),
  duration: z.number().optional().catch(undefined),
});

type Listed = Pick<ArkRecord, 'id'> & z.output<typeof originSchema>;

/**
 * Finds the jobs in a list that the lost create may have made. Returns undefined for any other body, and for a list with a job that cannot be
 * read, which may be the one.
 */
export function candidatesInList(
  body: JsonObject,
  lost: LostCreateToRecover,
  maxListed: number,
): { readonly candidates: readonly Listed[]; readonly isComplete: boolean } | undefined {
  const items = itemsIn(body);
  const jobs = items?.flatMap((item) => listedIn(item) ?? []);
  if (jobs === undefined || jobs.length !== items?.length) return undefined;
  const { total } = body;
  const isCut = jobs.length >= maxListed || (typeof total === 'number' && total > jobs.length);
  return {
    candidates: jobs.filter((job) => isCandidate(job, lost)),
    isComplete: listsAllSinceCreate(jobs, isCut, lost),
  };
}

function listedIn(item: JsonValue): Listed | undefined {
  const record = recordIn(item);
  const { data: origin } = originSchema.safeParse(record?.body);
  return record && origin && { id: record.id, ...origin };
}

/** True if the lost create may have made the job. Ark has no names for jobs, so account, time and input identify it. */
function isCandidate(listed: Listed, lost: LostCreateToRecover): boolean {
  const { input, accountHashes } = lost;
  const { safety_identifier: hash = '', ratio = input.ratio, duration = input.duration } = listed;
  if (!accountHashes.includes(hash) || !isSinceCreate(listed.created_at, lost)) return false;
  // The record of a job with an adaptive ratio contains the one that was chosen.
  return duration === input.duration && (input.ratio === 'adaptive' || ratio === input.ratio);
}
