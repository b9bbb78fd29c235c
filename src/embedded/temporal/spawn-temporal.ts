import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { runningProcess, type RunningProcess } from '../processes/running-process.ts';
import { openServerLog } from '../server-log.ts';

/** Where a server listens on 127.0.0.1: for gRPC, for the UI, for the services of gRPC over plain HTTP, and for its metrics. */
export type TemporalPorts = {
  readonly port: number;
  readonly uiPort: number;
  /** Unknown of a server that an older release of ours left running. */
  readonly httpPort: number | undefined;
  readonly metricsPort: number | undefined;
};

export type TemporalLaunch = {
  readonly cliPath: string;
  readonly folder: string;
  /** Without a database file, so that nothing outlives the server. */
  readonly inMemory: boolean;
  readonly namespace: string;
  readonly searchAttributes: Readonly<Record<string, string>>;
  /** Called each time the server has been started, long before it answers. */
  readonly onSpawned?: () => void;
};

/** The shell notes its own pid and then becomes the server, so that no kill of ours can leave a server without its pid file. */
const notePidThenRun = 'echo $$ >"$1" || exit 1; shift; exec "$@"';

/**
 * Starts the server in a session of its own, so that a Ctrl-C in our terminal does not reach it; undefined when it ended at
 * once. Its variables are ours alone: `TEMPORAL_ADDRESS` and the like are meant for clients.
 */
export async function spawnTemporal(launch: TemporalLaunch, ports: TemporalPorts): Promise<RunningProcess | undefined> {
  const { cliPath, folder } = launch;
  const log = await openServerLog(join(folder, 'server.log'));
  // It wants a home, and notes there which version it last was.
  const env = { HOME: folder, PATH: '/usr/bin:/bin' };
  try {
    const args = ['-c', notePidThenRun, 'sh', join(folder, 'pid'), cliPath, ...serverArguments(launch, ports)];
    const child = spawn('/bin/sh', args, { env, cwd: '/', stdio: ['ignore', log.fd, log.fd], detached: true });
    await once(child, 'spawn');
    child.unref();
    launch.onSpawned?.();
    return child.pid === undefined ? undefined : await runningProcess(child.pid);
  } finally {
    await log.close();
  }
}

/**
 * Fairness implies the new matcher in this server and needs nothing else; an account's key then shares a queue evenly.
 * The UI is on, without the news it would fetch from the internet.
 */
function serverArguments(
  { folder, inMemory, namespace, searchAttributes }: TemporalLaunch,
  { port, uiPort, httpPort, metricsPort }: TemporalPorts,
): string[] {
  const ports = { '--port': port, '--ui-port': uiPort, '--http-port': httpPort, '--metrics-port': metricsPort };
  const listening = ['--ip', '127.0.0.1', ...Object.entries(ports).flatMap(([name, number]) => [name, `${number}`])];
  const settings = [
    '--dynamic-config-value',
    'matching.enableFairness=true',
    // With the default of four partitions tasks of one account overtake each other by dozens of places (measured).
    '--dynamic-config-value',
    'matching.numTaskqueueReadPartitions=1',
    '--dynamic-config-value',
    'matching.numTaskqueueWritePartitions=1',
    '--ui-disable-news-fetch',
    '--log-level',
    'warn',
  ];
  const attributes = Object.entries(searchAttributes).flatMap(([name, type]) => [
    '--search-attribute',
    `${name}=${type}`,
  ]);
  const database = inMemory ? [] : ['--db-filename', join(folder, 'temporal.db')];
  return ['server', 'start-dev', ...listening, '--namespace', namespace, ...settings, ...attributes, ...database];
}
