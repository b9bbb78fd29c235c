import { type Database, DatabaseAway } from './database.ts';
import { type MadeAttempt, recordDeliveryAttempts } from './deliveries.ts';
import { gather } from './gather.ts';

/** A commit waits for the disk, and the attempts that come meanwhile share the next one. */
const limits = { maxTogether: 100, maxStatements: 2 };

/**
 * Records attempts at callbacks (see `recordDeliveryAttempts`), those that end at the same time in one statement. Each comes out
 * for itself: what one of them breaks is tried again without the others, for a callback that is not recorded is sent again.
 */
export function createAttemptRecorder(db: Database): (made: MadeAttempt) => Promise<void> {
  return gather((made: readonly MadeAttempt[]) => recordAll(db, made), limits);
}

async function recordAll(db: Database, made: readonly MadeAttempt[]): Promise<readonly (undefined | Error)[]> {
  const outcomes: (undefined | Error)[] = Array.from({ length: made.length });
  for (const places of withoutRepeats(made)) {
    const outcome = await outcomesOf(
      db,
      places.flatMap((place) => made[place] ?? []),
    );
    places.forEach((place, index) => (outcomes[place] = outcome[index]));
  }
  return outcomes;
}

/**
 * Places of attempts in groups of which none has a task twice: nearly always one group. Two attempts of one task are rare, as
 * when a worker was taken for dead, but each must find the number of the one before it.
 */
function withoutRepeats(made: readonly MadeAttempt[]): readonly (readonly number[])[] {
  const groups: number[][] = [];
  const seen = new Map<string, number>();
  for (const [place, { delivery }] of made.entries()) {
    const turn = seen.get(delivery.taskId) ?? 0;
    seen.set(delivery.taskId, turn + 1);
    (groups[turn] ??= []).push(place);
  }
  return groups;
}

async function outcomesOf(db: Database, made: readonly MadeAttempt[]): Promise<readonly (undefined | Error)[]> {
  try {
    await recordDeliveryAttempts(db, made);
    return made.map(() => undefined);
  } catch (error) {
    if (made.length === 1 || error instanceof DatabaseAway) return made.map(() => asError(error));
    const outcomes: (undefined | Error)[] = [];
    for (const one of made) outcomes.push(...(await outcomesOf(db, [one])));
    return outcomes;
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the attempt was not recorded', { cause: error });
}
