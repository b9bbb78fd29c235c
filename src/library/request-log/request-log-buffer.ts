import type { Logger } from 'pino';
import type { MetricEventSink } from '../../platform/metrics/metric-event-sink.ts';
import { type Database, DatabaseUnavailableError } from '../../platform/database/database.ts';
import { type FinishedRequest, insertLoggedRequests } from './request-log-rows.ts';

const maxBatchSize = 500;
const batchDelayMs = 1_000;
const maxWaiting = 5_000;

export type RequestLog = {
  /** Adds a request; never waits and never throws. */
  readonly add: (request: FinishedRequest) => void;
  /** Writes what waits, and returns early if the database is unavailable; never rejects. */
  readonly drain: () => Promise<void>;
};

/** The log of requests had no room for these requests. */
export type RequestsDropped = { readonly kind: 'logged_requests_dropped'; readonly requests: number };

type Deps = {
  readonly db: Pick<Database, 'run'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly events: MetricEventSink<RequestsDropped>;
  readonly delayMs?: number;
};

/**
 * Collects finished requests in memory and writes them in batches, so that no request waits for its own row. A crash loses the last
 * batch. While the database is unavailable the rows wait, and those beyond the limit are dropped and counted.
 */
export function createRequestLog({ db, log, events, delayMs = batchDelayMs }: Deps): RequestLog {
  let waiting: FinishedRequest[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  const drop = (requests: number) => events.emit({ kind: 'logged_requests_dropped', requests });

  /** Returns false if the batch waits for the database. */
  async function writeBatch(): Promise<boolean> {
    const batch = waiting.slice(0, maxBatchSize);
    try {
      await insertLoggedRequests(db, batch);
    } catch (error) {
      if (error instanceof DatabaseUnavailableError) return false;
      log.warn({ err: error, requests: batch.length }, 'requests were not logged');
      drop(batch.length);
    }
    waiting = waiting.slice(batch.length);
    return true;
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0 && (await writeBatch()));
  }

  async function drain(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    await (writing ??= writeAll().finally(() => {
      writing = undefined;
      if (waiting.length > 0) schedule();
    }));
  }

  function schedule(): void {
    timer ??= setTimeout(() => void drain(), delayMs).unref();
  }

  return {
    add: (request) => {
      if (waiting.length >= maxWaiting) {
        drop(1);
        return;
      }
      waiting.push(request);
      schedule();
    },
    drain,
  };
}

export const noRequestLog: RequestLog = { add: () => {}, drain: () => Promise.resolve() };
