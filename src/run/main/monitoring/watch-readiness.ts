import type { Client } from '@temporalio/client';
import pTimeout from 'p-timeout';
import { errorCode } from '../../../platform/setup-errors-and-error-messages.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { ServiceEvents } from '../../metrics/service-event.ts';
import type { PartName } from '../../../platform/process/process-part-type.ts';
import { clockDifferenceWarnMs } from '../../../platform/database/database-clock.ts';
import { createDatabase, type Database } from '../../../platform/database/database.ts';
import { listMigrationsOfRelease } from '../../schema/migrator.ts';
import { readSchemaState } from '../../schema/schema-state.ts';
import { readRetentionMs } from '../../../temporal/connection/server-facts.ts';
import { repeatUntilAborted } from '../../../platform/timing/repeat.ts';

type WatchedParts = {
  readonly part: PartName;
  readonly databaseUrl: string;
  /** Workers need Temporal; an API accepts tasks without it. */
  readonly temporal?: Client;
  readonly events: ServiceEvents;
  readonly log: Log;
  readonly pauseMs: number;
};

const checkLimitMs = 3_000;

/**
 * Checks the dependencies of a part of the process periodically. Resolves after the first check. Probes often allow a second or less, so
 * they get the result of the last check.
 */
export async function watchReadiness({ part, databaseUrl, temporal, events, log, pauseMs }: WatchedParts) {
  // A separate connection: a pool that is busy under load is not a reason to send requests elsewhere.
  const db = createDatabase({ url: databaseUrl, poolSize: 1 });
  const names = await listMigrationsOfRelease();
  const measured = watchClock({ part, events, log });
  const stopping = new AbortController();
  /** `check` returns the reason why the dependency is not ready. */
  const watch = (
    name: string,
    kind: 'database_checked' | 'temporal_checked',
    check: () => Promise<string | undefined>,
  ) => {
    let reason: string | undefined;
    const run = async () => {
      const { found, err } = await pTimeout(check(), { milliseconds: checkLimitMs }).then(
        (result) => ({ found: result, err: undefined }),
        // The reasons are public, so addresses are only logged.
        (error: unknown) => ({ found: `${name} unavailable`, err: error }),
      );
      if (stopping.signal.aborted) return;
      events.emit({ kind, part, isUp: found === undefined });
      if (found !== undefined && found !== reason) log.warn({ part, reason: found, err }, 'not ready');
      if (found === undefined && reason !== undefined) log.info({ part, after: reason }, 'ready again');
      reason = found;
    };
    const first = run();
    return { first, ended: first.then(() => repeatUntilAborted(pauseMs, stopping.signal, run)), reason: () => reason };
  };
  const checks = [watch('database', 'database_checked', () => checkSchema(db, names, measured))];
  if (temporal !== undefined) checks.push(watch('Temporal', 'temporal_checked', () => findMissingNamespace(temporal)));
  await Promise.all(checks.map(({ first }) => first));
  return {
    /** Reasons not to send requests here, or why this worker cannot do all of its work; empty if ready. Nothing in the process waits for it. */
    reasons: () => checks.map(({ reason }) => reason()).filter((reason) => reason !== undefined),
    close: async () => {
      stopping.abort();
      await Promise.all([...checks.map(({ ended }) => ended), db.close()]);
    },
  };
}

/** Exports how far this machine's clock is from that of the database, and logs when it is too far. */
function watchClock({ part, events, log }: Pick<WatchedParts, 'part' | 'events' | 'log'>) {
  let wasOff = false;
  return (databaseNow: number, sentAt: number): void => {
    const receivedAt = Date.now();
    // Positive if this machine is ahead. The response may have been made at any time in between.
    const offsetMs = (sentAt + receivedAt) / 2 - databaseNow;
    events.emit({ kind: 'clock_checked', part, offsetMs });
    const isOff = Math.abs(offsetMs) - (receivedAt - sentAt) / 2 > clockDifferenceWarnMs;
    const fields = {
      part,
      offsetSeconds: offsetMs / 1000,
      remedy: 'run a time service on this machine and that of the database',
    };
    if (isOff && !wasOff) log.warn(fields, 'clock differs from that of the database');
    if (!isOff && wasOff) log.info({ part }, 'clock agrees with that of the database again');
    wasOff = isOff;
  };
}

const [undefinedTable, insufficientPrivilege] = ['42P01', '42501'];

async function checkSchema(
  db: Database,
  required: readonly string[],
  measured: ReturnType<typeof watchClock>,
): Promise<string | undefined> {
  try {
    const sentAt = Date.now();
    const { now, isReadOnly, missing } = await readSchemaState(db, required);
    measured(now, sentAt);
    if (missing.length > 0) return `schema is older than this release: run "videogen migrate" (${missing.join(', ')})`;
    return isReadOnly ? 'database is read-only' : undefined;
  } catch (error) {
    const code = errorCode(error);
    if (code === undefinedTable) return 'database has no schema: run "videogen migrate"';
    if (code === insufficientPrivilege) return 'this database user may not read the table kysely_migration';
    throw error;
  }
}

async function findMissingNamespace(client: Client): Promise<string | undefined> {
  const retentionMs = await readRetentionMs(client);
  return retentionMs === undefined ? `Temporal has no namespace ${client.options.namespace}` : undefined;
}
