import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { keptPort } from '../kept-port.ts';
import { clearStalePostmasterPid, findPostmaster, type Postmaster } from './postmaster.ts';
import { postgresAnswer } from './postgres-answer.ts';
import { serverLogTail } from '../server-log.ts';
import { spawnPostmaster, type PostmasterLaunch } from './spawn-postmaster.ts';

export type PostgresPlan = PostmasterLaunch & {
  readonly password: string;
  readonly log: (message: string) => void;
};

/** After a hard crash it replays what it wrote since the last checkpoint: seconds, seldom a minute. */
const readyWithinMs = 120_000;

/** A server that is killed leaves backends that need a moment to notice; until then a new one refuses to start. */
const maxStarts = 6;
const pauseBetweenStartsMs = 300;

/** A server that answers: the one already on this cluster, else a new one. Throws with the end of its log when none comes up. */
export async function bringUpPostgres(plan: PostgresPlan, port: number | undefined): Promise<Postmaster> {
  for (let starts = 0; starts < maxStarts; starts++) {
    const found = await findPostmaster(plan.cluster);
    if (found !== undefined && (await isReady(plan, found.port, () => stillThere(plan, found)))) {
      plan.log(`PostgreSQL was still running (process ${found.running.pid}); using it.`);
      return found;
    }
    const started = found === undefined ? await startNew(plan, port) : undefined;
    if (started !== undefined) return started;
    await pause(pauseBetweenStartsMs);
  }
  const tail = await serverLogTail(logFileOf(plan));
  throw new Error(`PostgreSQL does not start on ${plan.cluster}. The end of its log:\n${tail}`);
}

const logFileOf = (plan: PostgresPlan): string => join(plan.folder, 'server.log');

async function stillThere(plan: PostgresPlan, { running }: Postmaster): Promise<boolean> {
  return (await findPostmaster(plan.cluster))?.running.startedAt === running.startedAt;
}

/** Undefined when it ended before it answered. */
async function startNew(plan: PostgresPlan, wantedPort: number | undefined): Promise<Postmaster | undefined> {
  await clearStalePostmasterPid(plan.cluster);
  const port = await keptPort(join(plan.folder, 'port'), wantedPort);
  const child = await spawnPostmaster(plan, port);
  const alive = () => Promise.resolve(child.exitCode === null && child.signalCode === null);
  try {
    if (!(await isReady(plan, port, alive))) return undefined;
  } catch (error) {
    child.kill('SIGINT');
    throw error;
  }
  return findPostmaster(plan.cluster);
}

/** True once it serves us, false when it has ended; throws when it does neither in time, or does not know our password. */
async function isReady(plan: PostgresPlan, port: number, isAlive: () => Promise<boolean>): Promise<boolean> {
  const deadline = Date.now() + readyWithinMs;
  while (Date.now() < deadline) {
    if (!(await isAlive())) return false;
    const answer = await postgresAnswer(port, plan.password);
    if (answer === 'ready') return true;
    if (answer === 'wrong password')
      throw new Error(`the password kept in ${plan.folder} is not that of the PostgreSQL there`);
    await pause(10);
  }
  throw new Error(
    `PostgreSQL on ${plan.cluster} did not answer within ${readyWithinMs / 1000} seconds; its log is ${logFileOf(plan)}`,
  );
}
