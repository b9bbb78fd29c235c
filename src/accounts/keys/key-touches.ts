import type { Database } from '../../platform/database/database.ts';
import { noRows } from '../../platform/database/declare-statements.ts';

const touchDelayMs = 1_000;
/** Keys per statement; one beyond them is recorded at its next use. */
const maxTouches = 10_000;

export type KeyTouches = ReturnType<typeof createKeyTouches>;

/** Records when keys were last used, in batches, after the responses. */
export function createKeyTouches(db: Database, delayMs = touchDelayMs) {
  const used = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  /** Writes the open batch; never rejects. */
  async function drain(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const keyIds = [...used];
    used.clear();
    if (keyIds.length > 0) await touchKeys(db, keyIds).catch(() => {});
  }
  return {
    /** Adds a key whose last recorded use is over a minute old; never waits and never throws. */
    add: (keyId: string): void => {
      if (used.size < maxTouches) used.add(keyId);
      timer ??= setTimeout(() => void drain(), delayMs).unref();
    },
    drain,
  };
}

/** Records that these keys were used now, at most once a minute each. The caller bounds their number. */
const touchKeys = noRows<[keyIds: readonly string[]]>({
  name: 'touch-keys',
  text: `
update api_keys set last_used_at = now()
where id = any($1::uuid[]) and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
});
