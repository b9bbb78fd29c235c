import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bringUpTemporal, type TemporalPlan } from './temporal/bring-up-temporal.ts';
import type { RunningProcess } from './processes/running-process.ts';
import { boundServerLog } from './server-log.ts';
import { stopProcess } from './processes/stop-process.ts';
import { supervise } from './processes/supervise.ts';
import type { TemporalWanted } from './temporal/temporal-answer.ts';

export type TemporalServer = {
  /** Host and port of the gRPC service; the same for as long as this runs, also over restarts of the server. */
  readonly address: string;
  readonly uiUrl: string;
  /** All on which it listens for others. */
  readonly ports: readonly number[];
  /** Of the server that runs now. */
  readonly pid: number;
  /** Ends the server; bounded by about 15 seconds. */
  readonly stop: () => Promise<void>;
};

export type TemporalOptions = TemporalWanted & {
  /** The `temporal` program, see `findTemporalCli`. */
  readonly cliPath: string;
  /** Holds the server's database, ports and log; created when missing. Without it nothing is kept, for tests. */
  readonly folder?: string;
  /** Takes whole sentences for the operator. */
  readonly log: (message: string) => void;
  /** On 127.0.0.1, like `uiPort`. By default the ones used last, when they are free, else any. */
  readonly port?: number;
  readonly uiPort?: number;
  /** Called whenever the server has been started: whoever has much to load does it from the first time on. */
  readonly onSpawned?: () => void;
};

/** It ends in about a second when asked; its database survives SIGKILL. */
const stopSteps = [
  { signal: 'SIGTERM', waitMs: 12_000 },
  { signal: 'SIGKILL', waitMs: 3_000 },
] as const;

/**
 * Starts Temporal's development server with the namespace and the search attributes in place, or adopts the one that a killed
 * process left running on this folder, and watches over it. Resolves once it serves. Hold the lock of the data folder while
 * calling this and until `stop` has ended. A server without a folder is lost, not adopted, when this process is killed.
 */
export async function startTemporal(options: TemporalOptions): Promise<TemporalServer> {
  const { log } = options;
  const inMemory = options.folder === undefined;
  // The server is started elsewhere, so a relative name would mean another folder there.
  const folder = inMemory ? await mkdtemp(join(tmpdir(), 'videogen-temporal-')) : resolve(options.folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const plan: TemporalPlan = { ...options, folder, inMemory, end: endTemporal };
  const up = await bringUpTemporal(plan);
  const supervisor = supervise({
    name: 'Temporal',
    first: up.running,
    // At the same ports, since its address is in use all over the process.
    restart: async () => (await bringUpTemporal({ ...plan, port: up.port, uiPort: up.uiPort })).running,
    end: async (running) => {
      await endTemporal(running);
      await rm(inMemory ? folder : join(folder, 'pid'), { recursive: true, force: true });
    },
    housekeeping: () => boundServerLog(join(folder, 'server.log')),
    log,
  });
  return {
    address: `127.0.0.1:${up.port}`,
    uiUrl: `http://127.0.0.1:${up.uiPort}`,
    ports: [up.port, up.uiPort, up.httpPort, up.metricsPort].filter((port) => port !== undefined),
    get pid() {
      return supervisor.pid();
    },
    stop: supervisor.stop,
  };
}

async function endTemporal(running: RunningProcess): Promise<void> {
  if (!(await stopProcess(running, stopSteps))) throw new Error(`Temporal (process ${running.pid}) does not end`);
}
