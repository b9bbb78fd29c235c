import type { JsonObject } from '../../platform/text/json.ts';
import type { LostCreateToRecover, RecoverOutcome } from '../provider-contract.ts';

type Candidate = { readonly id: string; readonly handle?: JsonObject };

/** A list may lag behind the jobs for this time. */
export const visibleWithinMs = 120_000;

/** The outcome for an answer that cannot be read, which proves nothing. The lookups end after ten minutes of such answers. */
export const unreadableLookup = { kind: 'later', afterMs: 15_000 } as const satisfies RecoverOutcome;

/**
 * The pause until the next lookup. The create takes a slot until its job is found or the list is certain, so lookups are frequent at first,
 * and the last one comes when the list can no longer lag.
 */
function pauseBefore(ageMs: number): number {
  const pauseMs = Math.min(unreadableLookup.afterMs, Math.max(2_000, ageMs / 2));
  return Math.ceil(Math.min(pauseMs, visibleWithinMs - ageMs));
}

/** The clocks of the upstream and of our database may differ by this. */
const clockSkewMs = 60_000;

/** False for a job that existed before the create was sent; its time is in Unix seconds. */
export function isSinceCreate(createdAt: number, { intendedAt }: Pick<LostCreateToRecover, 'intendedAt'>): boolean {
  return createdAt * 1000 >= intendedAt - clockSkewMs;
}

/** True if a list, the newest job first, has every job since the create. A list that was cut has it if it reaches further back. */
export function listsAllSinceCreate(
  jobs: readonly { readonly created_at: number }[],
  isCut: boolean,
  lost: Pick<LostCreateToRecover, 'intendedAt'>,
): boolean {
  return !isCut || jobs.some((job) => !isSinceCreate(job.created_at, lost));
}

/**
 * Finds the job of a lost create among the listed jobs that may be it. It is certain only if exactly one is left that belongs to no
 * other create of ours, and no other create is unanswered. An empty list never proves that there is no job.
 */
export async function findJobOfCreate(
  candidates: readonly Candidate[],
  lost: LostCreateToRecover,
  /** False if the list may lack jobs that were made since the create. */
  isComplete = true,
): Promise<RecoverOutcome> {
  // In this order, after the list was read: the create of each listed job of ours is unanswered here, or has its id in the claims.
  const rivals = await lost.countRivals();
  const claimed = candidates.length === 0 ? new Set() : await lost.claimed(candidates.map(({ id }) => id));
  const [found, ...others] = candidates.filter(({ id }) => !claimed.has(id));
  if (found !== undefined && others.length === 0 && rivals === 0 && isComplete) {
    const { id, handle } = found;
    return { kind: 'found', id, ...(handle !== undefined && { handle }) };
  }
  const count = found === undefined ? 0 : others.length + 1;
  const detail = `${count} jobs could be this one, and ${rivals} other creates are unanswered`;
  return retryOrGiveUpLookup(lost, isComplete ? detail : `${detail}; the list may lack jobs`);
}

/** Repeats the lookup in a list that decides nothing while it may lag, and then ends it. */
export function retryOrGiveUpLookup(
  { intendedAt }: Pick<LostCreateToRecover, 'intendedAt'>,
  detail: string,
): RecoverOutcome {
  const ageMs = Date.now() - intendedAt;
  return ageMs < visibleWithinMs ? { kind: 'later', afterMs: pauseBefore(ageMs) } : { kind: 'unknown', detail };
}
