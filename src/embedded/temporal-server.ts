import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SetupError } from '../domain/errors.ts';
import { connectTemporal } from '../temporal/connect.ts';
import { registerSearchAttributes } from '../temporal/search-attributes.ts';
import { isFree, keptPort } from './kept-port.ts';
import { runServer } from './own-server.ts';
import { commandOf, stopProcess } from './running-process.ts';
import { boundServerLog, openServerLog, serverLogTail } from './server-log.ts';

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

export type TemporalOptions = {
  /** The `temporal` program, see `findTemporalCli`. */
  readonly cliPath: string;
  readonly namespace: string;
  /** Holds the server's database, ports and log; created when missing. Without it nothing is kept, for tests. */
  readonly folder?: string;
  /** Takes whole sentences for the operator. */
  readonly log: (message: string) => void;
  /** Breaks the start off. */
  readonly signal?: AbortSignal;
};

/** It ends in about a second when asked; its database survives SIGKILL. */
const stopSteps = [
  { signal: 'SIGTERM', waitMs: 12_000 },
  { signal: 'SIGKILL', waitMs: 3_000 },
] as const;

/**
 * Starts Temporal's development server with the namespace and our search attributes in place, and watches over it; one that a
 * killed process left running on this folder is stopped first. Resolves once it serves. Hold the lock of the data folder while
 * calling this and until `stop` has ended.
 */
export async function startTemporal({
  cliPath,
  namespace,
  log,
  signal,
  folder: kept,
}: TemporalOptions): Promise<TemporalServer> {
  // The server is started elsewhere, so a relative name would mean another folder there.
  const folder = kept === undefined ? await mkdtemp(join(tmpdir(), 'videogen-temporal-')) : resolve(kept);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await stopOrphan(folder, log);
  const [port, uiPort, httpPort, metricsPort] = await Promise.all([
    keptPort(join(folder, 'port'), undefined),
    keptPort(join(folder, 'ui-port'), undefined),
    keptPort(join(folder, 'http-port'), undefined),
    keptPort(join(folder, 'metrics-port'), undefined),
  ]);
  const address = `127.0.0.1:${port}`;
  const options = {
    '--ip': '127.0.0.1',
    '--port': port,
    '--ui-port': uiPort,
    '--http-port': httpPort,
    '--metrics-port': metricsPort,
    '--namespace': namespace,
    '--log-level': 'warn',
    ...(kept !== undefined && { '--db-filename': databaseOf(folder) }),
  };
  const args = Object.entries(options).flatMap(([name, value]) => [name, String(value)]);
  const server = await runServer({
    name: 'Temporal',
    start: async () => {
      // While ours was down another installation may have taken the port, and its Temporal would answer us.
      if (!(await isFree(port))) throw new SetupError(`port ${port} of 127.0.0.1 is taken by another program`);
      return spawnTemporal(cliPath, folder, ['server', 'start-dev', ...args, ...fairness, '--ui-disable-news-fetch']);
    },
    serves: async () => (await isListening(port)) && (await knowsSearchAttributes(address, namespace)),
    // A new one is there within a second; a loaded machine or a large database takes longer.
    readyWithinMs: 60_000,
    // It picks more ports for itself inside, so that a start may fail because another program was faster.
    maxStarts: 3,
    fault: () => faultOf(folder),
    stopSteps,
    housekeeping: () => boundServerLog(join(folder, 'server.log')),
    log,
    signal,
  });
  return {
    address,
    uiUrl: `http://127.0.0.1:${uiPort}`,
    ports: [port, uiPort, httpPort, metricsPort],
    get pid() {
      return server.pid();
    },
    stop: async () => {
      await server.stop();
      await rm(kept === undefined ? folder : join(folder, 'pid'), { recursive: true, force: true });
    },
  };
}

const databaseOf = (folder: string): string => join(folder, 'temporal.db');

/**
 * Fairness implies the new matcher in this server and needs nothing else; an account's key then shares a queue evenly. With
 * the default of four partitions tasks of one account overtake each other by dozens of places (measured).
 */
const fairness = [
  'matching.enableFairness=true',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
].flatMap((value) => ['--dynamic-config-value', value]);

/** The shell records its own pid and then becomes the server, so that no kill of ours can leave a server without its pid file. */
const recordPidThenRun = 'echo $$ >"$1" || exit 1; shift; exec "$@"';

/**
 * Starts the server in a session of its own, so that a Ctrl-C in our terminal does not reach it. Its variables are ours alone:
 * `TEMPORAL_ADDRESS` and the like are meant for clients.
 */
async function spawnTemporal(cliPath: string, folder: string, args: readonly string[]): Promise<ChildProcess> {
  const log = await openServerLog(join(folder, 'server.log'));
  // It needs a home folder, where it records its last version.
  const env = { HOME: folder, PATH: '/usr/bin:/bin' };
  try {
    const child = spawn('/bin/sh', ['-c', recordPidThenRun, 'sh', join(folder, 'pid'), cliPath, ...args], {
      env,
      cwd: '/',
      stdio: ['ignore', log.fd, log.fd],
      detached: true,
    });
    await once(child, 'spawn');
    child.unref();
    return child;
  } finally {
    await log.close();
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => answer(true)).once('error', () => answer(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** True once the namespace is there and knows our search attributes, of which a later release may bring more. */
async function knowsSearchAttributes(address: string, namespace: string): Promise<boolean> {
  const { client, close } = connectTemporal({ connection: { address }, namespace }, { retries: false });
  try {
    return (await registerSearchAttributes(client, 2_000)).length === 0;
  } catch {
    // No namespace yet, or shutting down: not ready.
    return false;
  } finally {
    await close();
  }
}

/**
 * The pid file is checked against the command line, since the pid may belong to another program by now; and the file of a copied
 * folder names the server of the original, whose database has another name, so the whole name counts.
 */
async function stopOrphan(folder: string, log: (message: string) => void): Promise<void> {
  const pid = Number(await readFile(join(folder, 'pid'), 'utf8').catch(() => ''));
  if (!Number.isInteger(pid) || pid <= 0) return;
  const isGone = async () => (await commandOf(pid))?.includes(` --db-filename ${databaseOf(folder)} `) !== true;
  if (await isGone()) return;
  log(`Temporal was still running (process ${pid}); starting it anew.`);
  await stopProcess(pid, isGone, stopSteps);
}

async function faultOf(folder: string): Promise<SetupError> {
  const tail = await serverLogTail(join(folder, 'server.log'));
  const hasDatabase = await access(databaseOf(folder)).then(
    () => true,
    () => false,
  );
  const advice =
    'If its file is damaged, delete all files `temporal.db*` in that folder and start again. PostgreSQL keeps every task and ' +
    'credit: waiting tasks begin again, tasks under way are refunded, and only the histories in the Temporal UI are lost.';
  return new SetupError(
    `Temporal does not start on ${folder}. ${hasDatabase ? `${advice} ` : ''}The end of its log:\n${tail}`,
  );
}
