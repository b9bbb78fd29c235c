import type { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { Log } from '../../platform/log/log.ts';
import { repeatUntilAborted } from '../../platform/timing/repeat.ts';
import { retryStartStep } from '../../platform/timing/retry-start-step.ts';
import type { CompleteSettings } from '../config/complete-settings-and-derived-values.ts';
import { grpcCode, isUnavailable } from '../../temporal/connection/connect.ts';
import { readRetentionMs } from '../../temporal/connection/server-facts.ts';
import { registerSearchAttributes } from '../../temporal/connection/search-attributes.ts';
import type { WorkerParts } from './wire-activities.ts';
import { workerOptionsPerQueue } from './worker-options.ts';

export type TemporalWorkerParts = {
  readonly parts: WorkerParts;
  readonly log: Log;
  readonly onFatal: (error: unknown) => void;
  readonly client: Client;
  readonly signal: AbortSignal;
};

/** A single rejection may be that of a proxy which is reloading. */
const rejectionsBeforePause = 2;

/** The workers of a process, one for each of its queues, on one connection. */
export function createTemporalWorkers(
  settings: CompleteSettings,
  { parts, log, onFatal, client, signal }: TemporalWorkerParts,
) {
  const step = (name: string) => ({ step: name, log, signal });
  let running: { readonly worker: Worker; readonly end: Promise<void> }[] = [];
  let opened: NativeConnection | undefined;
  const startAll = async (connection: NativeConnection) => {
    if (settings.workerQueues.includes('tasks'))
      await retryStartStep(step('register search attributes'), () => registerSearchAttributes(client));
    for (const options of workerOptionsPerQueue(settings, parts)) {
      const create = () => Worker.create({ ...options, connection });
      const worker = await retryStartStep(step(`start the worker of ${options.taskQueue}`), create);
      const end = worker.run();
      running.push({ worker, end });
      end.catch(onFatal);
    }
  };
  const stopAll = async () => {
    const stopped = running;
    running = [];
    for (const { worker } of stopped) if (worker.getState() === 'RUNNING') worker.shutdown();
    await Promise.allSettled(stopped.map(({ end }) => end));
  };
  return {
    /** Resolves once the worker of each queue polls. */
    start: async () => {
      const connect = () => NativeConnection.connect(settings.temporal.connection);
      opened = await retryStartStep(step('connect to Temporal'), connect);
      await startAll(opened);
    },
    /**
     * Stops the workers while Temporal rejects calls, or something else answers at its address, and starts them when it accepts them.
     * The SDK waits for an unreachable server, but its workers end after a minute of rejected polls, and then cannot be closed.
     */
    keepPolling: (pauseMs: number, onChange: (isPolling: boolean) => void): Promise<void> => {
      let rejections = 0;
      return repeatUntilAborted(pauseMs, signal, async () => {
        const error = await rejectionOf(client);
        rejections = error === undefined ? 0 : rejections + 1;
        if (rejections < rejectionsBeforePause || opened === undefined || signal.aborted) return;
        rejections = 0;
        onChange(false);
        log.warn({ err: error }, 'Temporal rejects calls; polling paused');
        try {
          await stopAll();
          await startAll(opened);
          onChange(true);
          log.info('Temporal accepts calls; polling resumed');
        } catch (startError) {
          if (!signal.aborted) onFatal(startError);
        }
      });
    },
    close: async () => {
      await stopAll();
      // Closing fails while a worker that is being created uses the connection; the process exits anyway.
      await opened?.close().catch((error: unknown) => log.warn({ err: error }, 'connection not closed'));
    },
  };
}

/** Returns the error of a call that Temporal, or another server at its address, rejected; undefined if it succeeded or was not answered. */
async function rejectionOf(client: Client): Promise<unknown> {
  try {
    const retentionMs = await readRetentionMs(client);
    return retentionMs === undefined ? new Error(`there is no namespace ${client.options.namespace}`) : undefined;
  } catch (error) {
    return grpcCode(error) === undefined || isUnavailable(error) ? undefined : error;
  }
}
