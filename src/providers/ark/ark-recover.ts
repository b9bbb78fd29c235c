import { z } from 'zod';
import type { LostCall, RecoverOutcome } from '../contract.ts';
import type { ArkQueries } from './ark-queries.ts';
import type { ArkRecord } from './ark-records.ts';

// A create whose answer was lost. Ark has no names for jobs and no repeatable creates, so its list of jobs is looked through for one
// that can only be ours.

/** The longest list that Ark gives. */
const maxListed = 500;
const listTimeoutMs = 30_000;
/** Between the clock of the database and Ark's. */
const clockDifferenceMs = 60_000;
const lookMs = 20_000;
/** A list may lag behind the jobs. Nobody says for how long, so one without the job never proves that there is none. */
const lookForMs = 120_000;

export async function recoverJob(
  queries: ArkQueries,
  model: string,
  lost: LostCall,
  signal: AbortSignal,
): Promise<RecoverOutcome> {
  const query = { size: maxListed, filter: [['filter.model', model]] as [string, string][], timeoutMs: listTimeoutMs };
  const listed = await queries.records(query, signal);
  const records = 'records' in listed ? listed.records : [];
  const candidates = candidatesIn(records, lost);
  const ids = candidates.map(({ id }) => id);
  const claimed = ids.length === 0 ? new Set<string>() : await lost.claimed(ids);
  const [found, ...others] = ids.filter((id) => !claimed.has(id));
  // A full list of newer jobs may hide others that could be it.
  const isWhole = records.length < maxListed || records.some((record) => !isRecent(record, lost));
  const isAlone = others.length === 0 && lost.rivals === 0 && isWhole;
  if (found !== undefined && isAlone) return { kind: 'found', id: found };
  if (Date.now() - lost.intendedAt < lookForMs) return { kind: 'later', afterMs: lookMs };
  if ('status' in listed) return { kind: 'unknown', detail: 'the list of jobs could not be read' };
  const candidate = found === undefined ? 'no job' : `one of ${others.length + 1} jobs`;
  return { kind: 'unknown', detail: `${candidate} may be it, and ${lost.rivals} other answers were lost` };
}

/** What a list says about when, for whom and how a job was made. */
const originSchema = z.object({
  created_at: z.number(),
  safety_identifier: z.string().optional().catch(undefined),
  ratio: z.string().optional().catch(undefined),
  duration: z.number().optional().catch(undefined),
});

/** The jobs that the lost call may have made. */
function candidatesIn(records: readonly ArkRecord[], lost: LostCall): readonly ArkRecord[] {
  const { input, accountHash } = lost;
  return records.filter((record) => {
    const { data: origin } = originSchema.safeParse(record.body);
    if (origin?.safety_identifier !== accountHash || !isRecent(record, lost)) return false;
    const { ratio = input.ratio, duration = input.duration } = origin;
    // A job with an adaptive ratio tells the one that it chose.
    return duration === input.duration && (input.ratio === 'adaptive' || ratio === input.ratio);
  });
}

function isRecent({ body }: ArkRecord, { intendedAt }: LostCall): boolean {
  const { data: origin } = originSchema.safeParse(body);
  return origin !== undefined && origin.created_at * 1000 >= intendedAt - clockDifferenceMs;
}
