import { z } from 'zod';
import { isObject } from '../../domain/json.ts';
import { type CostRule, estimateCost } from '../../domain/catalogue/cost.ts';
import type { Cost, Job, JobStatus, JsonObject, JsonValue } from '../contract.ts';
import { faultOfJob } from './ark-faults.ts';

// Ark's records of jobs, alone and in lists.

const recordSchema = z.object({ id: z.string(), status: z.string() });

/** A record, with all that Ark tells of the job. */
export type ArkRecord = { readonly id: string; readonly status: string; readonly body: JsonObject };

/** Servers of the same kind wrap a single record in `task`. */
export function recordIn(value: JsonValue | undefined): ArkRecord | undefined {
  const body = isObject(value) && isObject(value['task']) ? value['task'] : value;
  const { data } = recordSchema.safeParse(body);
  return data === undefined || !isObject(body) ? undefined : { ...data, body };
}

/** The records of a list; undefined when the body is none. */
export function recordsIn(body: JsonObject): readonly ArkRecord[] | undefined {
  const { items } = body;
  // An array of JSON is not told from an object by its type.
  const list = Array.isArray(items) ? (items as readonly JsonValue[]) : undefined;
  return list?.flatMap((item) => recordIn(item) ?? []);
}

export const states = {
  queued: 'queued',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
} as const;

export type ArkState = (typeof states)[keyof typeof states];

export type RecordRules = { readonly resultPath: string; readonly cost: CostRule | undefined };

export function statusOf(record: ArkRecord, state: ArkState, job: Job, rules: RecordRules): JobStatus {
  if (state === 'queued' || state === 'running') return { state };
  const cost = costOf(record.body, job, rules.cost);
  const billed = cost === undefined ? {} : { cost };
  if (state !== 'succeeded') return { state: 'failed', fault: faultOfJob(record.body, state), ...billed };
  const url = resultUrlOf(record, rules.resultPath);
  return { state, ...(url !== undefined && { result: { url } }), ...billed };
}

/** The address of the video: `path` names fields with dots between them. */
export function resultUrlOf({ body }: ArkRecord, path: string): string | undefined {
  let value: JsonValue | undefined = body;
  for (const name of path.split('.')) value = isObject(value) ? value[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

const usageSchema = z
  .object({ total_tokens: z.int().positive().optional(), completion_tokens: z.int().positive().optional() })
  .transform(({ total_tokens: total, completion_tokens: completion }) => total ?? completion);

/** By the tokens that Ark bills; without them nothing is known beyond the estimate. */
function costOf(body: JsonObject, { input }: Job, rule: CostRule | undefined): Cost | undefined {
  const tokens = usageSchema.safeParse(body['usage']).data;
  if (rule?.perMillionTokens === undefined || tokens === undefined) return undefined;
  const cost = estimateCost(rule, { input, tokens });
  return cost === undefined ? undefined : { ...cost, basis: 'reported' };
}
