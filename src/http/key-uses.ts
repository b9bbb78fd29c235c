import type { Database } from '../stores/database.ts';
import { noteKeyUses } from '../stores/callers.ts';

/** Remembers which keys were used and writes it down behind the answers, many at a time. */
export type KeyUses = {
  /** Takes a key whose last use is older than a minute; returns at once and never throws. */
  readonly add: (keyId: string) => void;
  /** Writes down what is left; never rejects. */
  readonly drain: () => Promise<void>;
};

const gatherMs = 1_000;
/** Keys in one statement at most; what comes beyond within a second is noted at its next use. */
const maxGathered = 10_000;

export function createKeyUses(db: Database, waitMs = gatherMs): KeyUses {
  const used = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  async function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const keyIds = [...used];
    used.clear();
    // A use that is not written down is written down at the next one: no reason to trouble anybody.
    if (keyIds.length > 0) await noteKeyUses(db, keyIds).catch(() => {});
  }
  return {
    add: (keyId) => {
      if (used.size < maxGathered) used.add(keyId);
      timer ??= setTimeout(() => void write(), waitMs).unref();
    },
    drain: write,
  };
}
