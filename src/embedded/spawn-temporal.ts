import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { runningProcess, type RunningProcess } from './running-process.ts';
import { openServerLog } from './server-log.ts';

export type TemporalLaunch = {
  readonly cliPath: string;
  readonly folder?: string;
  readonly namespace: string;
  readonly searchAttributes: Readonly<Record<string, string>>;
};

/** The shell notes its own pid and then becomes the server, so that no kill of ours can leave a server without its pid file. */
const notePidThenRun = 'echo $$ >"$1" || exit 1; shift; exec "$@"';

/**
 * Starts the server in a session of its own, so that a Ctrl-C in our terminal does not reach it; undefined when it ended at
 * once. Its variables are ours alone: `TEMPORAL_ADDRESS` and the like are meant for clients.
 */
export async function spawnTemporal(
  launch: TemporalLaunch,
  port: number,
  uiPort: number,
): Promise<RunningProcess | undefined> {
  const { cliPath, folder } = launch;
  const pidFile = folder === undefined ? '/dev/null' : join(folder, 'pid');
  const log = await openServerLog(folder === undefined ? '/dev/null' : join(folder, 'server.log'));
  // Below its home it notes which version it last was; one in memory leaves nothing behind.
  const env = { HOME: folder ?? '/dev/null', PATH: '/usr/bin:/bin' };
  try {
    const args = ['-c', notePidThenRun, 'sh', pidFile, cliPath, ...serverArguments(launch, port, uiPort)];
    const child = spawn('/bin/sh', args, { env, cwd: '/', stdio: ['ignore', log.fd, log.fd], detached: true });
    await once(child, 'spawn');
    child.unref();
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
  { folder, namespace, searchAttributes }: TemporalLaunch,
  port: number,
  uiPort: number,
): string[] {
  const address = ['--ip', '127.0.0.1', '--port', String(port), '--ui-port', String(uiPort)];
  const settings = [
    '--dynamic-config-value',
    'matching.enableFairness=true',
    '--ui-disable-news-fetch',
    '--log-level',
    'warn',
  ];
  const attributes = Object.entries(searchAttributes).flatMap(([name, type]) => [
    '--search-attribute',
    `${name}=${type}`,
  ]);
  const database = folder === undefined ? [] : ['--db-filename', join(folder, 'temporal.db')];
  return ['server', 'start-dev', ...address, '--namespace', namespace, ...settings, ...attributes, ...database];
}
