import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { SetupError } from '../../../platform/setup-errors-and-error-messages.ts';
import { usingTemporal } from '../../../temporal/connection/connect.ts';
import { registerSearchAttributes } from '../../../temporal/connection/search-attributes.ts';
import { isPortFree, readOrReservePort } from '../local-ports.ts';
import { type SupervisedServer, startSupervisedServer, type ServerProgram, stopOrphan } from '../supervised-server.ts';
import { commandLineOf } from '../inspect-and-stop-process.ts';

export type TemporalServer = SupervisedServer & {
  /** Host and port of the gRPC service, which survive restarts of the server. */
  readonly address: string;
  readonly uiUrl: string;
  /** The ports on which it listens. */
  readonly ports: readonly number[];
};

/** The folder holds the server's database, ports and log; created when missing. An absolute path. */
export type TemporalOptions = Pick<ServerProgram, 'folder' | 'log' | 'signal'> & {
  /** The `temporal` program, see `findOrDownloadTemporalCli`. */
  readonly cliPath: string;
  readonly namespace: string;
  /** Stores no database, for tests. */
  readonly inMemory?: boolean;
  /** Settings of the server, each `name=value`, beside those that the service needs. */
  readonly dynamicConfig?: readonly string[];
};

const name = 'Temporal';

/** Temporal stops in about a second; its database survives SIGKILL. */
const stopSteps = [
  { signal: 'SIGTERM', waitMs: 12_000 },
  { signal: 'SIGKILL', waitMs: 3_000 },
] as const;

const advice =
  'If its file is damaged, delete all files `temporal.db*` in that folder and start again. PostgreSQL keeps every task and ' +
  'credit: waiting tasks begin again, tasks under way are refunded, and only the histories in the Temporal UI are lost.';

/** Starts Temporal and restarts it when it dies; an orphaned one is stopped first. Hold the data folder's lock until `stop` ends. */
export async function startTemporal(given: TemporalOptions): Promise<TemporalServer> {
  const { cliPath, namespace, folder, inMemory = false, dynamicConfig = [], log, signal } = given;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await stopOrphan({ name, log, stopSteps }, () => orphanOf(folder));
  const command = [cliPath, 'server', 'start-dev', '--ip', '127.0.0.1', '--namespace', namespace].concat(
    ['--log-level', 'warn', '--ui-disable-news-fetch'],
    inMemory ? [] : ['--db-filename', databaseOf(folder)],
    [...fairness, ...dynamicConfig].flatMap((value) => ['--dynamic-config-value', value]),
  );
  let ports: readonly number[] = [];
  const port = () => ports[0] ?? 0;
  const address = () => `127.0.0.1:${port()}`;
  // Variables such as `TEMPORAL_ADDRESS` are for clients. It records its version in its home folder.
  const env = { HOME: folder, PATH: '/usr/bin:/bin' };
  const server = await startSupervisedServer({
    name,
    folder,
    logFile: join(folder, 'server.log'),
    launch: async ({ isRestart }) => {
      if (!isRestart) ports = await Promise.all(portNames.map((file) => readOrReservePort(join(folder, file))));
      // While ours was down another installation may have taken the port, and its Temporal would answer us.
      else if (!(await isPortFree(port())))
        throw new SetupError(`port ${port()} of 127.0.0.1 is taken by another program`);
      const portOptions = portNames.flatMap((option, index) => [`--${option}`, String(ports[index])]);
      return {
        file: '/bin/sh',
        args: ['-c', recordPidThenRun, 'sh', pidFileOf(folder), ...command, ...portOptions],
        options: { cwd: '/', env },
      };
    },
    serves: async () => (await isListening(port())) && (await hasSearchAttributes(address(), namespace)),
    advice,
    stopSteps,
    log,
    signal,
  });
  return Object.assign(server, { address: address(), uiUrl: `http://127.0.0.1:${ports[1]}`, ports });
}

/** A busy machine takes seconds to register search attributes; a probe that is cut off registers none. */
const probeMs = 10_000;

/** Each name is an option of the server, and names the file that stores its value. */
const portNames = ['port', 'ui-port', 'http-port', 'metrics-port'];

const databaseOf = (folder: string): string => join(folder, 'temporal.db');
const pidFileOf = (folder: string): string => join(folder, 'pid');

/** With the default of four partitions, tasks of one account overtake dozens of others (measured). */
const fairness = [
  'matching.enableFairness=true',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
];

/** The shell records its own pid and then becomes the server, so that no kill of ours can leave a server without its pid file. */
const recordPidThenRun = 'echo $$ >"$1" || exit 1; shift; exec "$@"';

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isConnected = await once(socket, 'connect').catch(() => false);
  socket.destroy();
  return isConnected !== false;
}

/** True once the namespace exists and has our search attributes, which a release may add to. */
async function hasSearchAttributes(address: string, namespace: string): Promise<boolean> {
  const target = { connection: { address }, namespace };
  const register = usingTemporal(target, { retries: false }, (client) => registerSearchAttributes(client, probeMs));
  // Registration fails before the namespace exists, and while the server stops.
  return (await register.catch(() => undefined))?.length === 0;
}

/**
 * Finds a server that a killed process left running. Its pid may belong to another program now, or to the server of a copied folder, so the
 * command line decides.
 */
async function orphanOf(folder: string): Promise<number | undefined> {
  const pid = Number(await readFile(pidFileOf(folder), 'utf8').catch(() => ''));
  const command = pid > 0 ? await commandLineOf(pid) : undefined;
  return command?.includes(` --db-filename ${databaseOf(folder)} `) === true ? pid : undefined;
}
