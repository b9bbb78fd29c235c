import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { keptPort, readPort } from '../kept-port.ts';
import { isStillRunning, runningProcess, type RunningProcess } from '../processes/running-process.ts';
import { serverLogTail } from '../server-log.ts';
import { spawnTemporal, type TemporalLaunch, type TemporalPorts } from './spawn-temporal.ts';
import { temporalAnswers, type TemporalWanted } from './temporal-answer.ts';

export type TemporalPlan = TemporalLaunch & {
  readonly log: (message: string) => void;
  readonly port?: number;
  readonly uiPort?: number;
  readonly end: (running: RunningProcess) => Promise<void>;
};

export type TemporalUp = TemporalPorts & { readonly running: RunningProcess };

/** A new one is there within a second; a loaded machine or a large database takes longer. */
const readyWithinMs = 60_000;
const adoptWithinMs = 10_000;
/** A look is one connection on the loopback interface, which is refused until the server is nearly there. */
const lookEveryMs = 20;

/** Where a folder remembers the ports of its server. */
const portFiles = { port: 'port', uiPort: 'ui-port', httpPort: 'http-port', metricsPort: 'metrics-port' } as const;

/** It picks more ports for itself inside, so that a start may fail because another program was faster. */
const maxStarts = 3;

/** A server that serves what is wanted: the one left running on the folder, else a new one. Throws with the end of its log. */
export async function bringUpTemporal(plan: TemporalPlan): Promise<TemporalUp> {
  const adopted = await adopt(plan);
  if (adopted !== undefined) return adopted;
  for (let starts = 0; starts < maxStarts; starts++) {
    const started = await startNew(plan);
    if (started !== undefined) return started;
  }
  const tail = await serverLogTail(join(plan.folder, 'server.log'));
  throw new Error(`Temporal's development server (${plan.cliPath}) does not start. The end of its log:\n${tail}`);
}

/**
 * One that runs but does not serve is ended: its database survives that, and would not survive two servers.
 */
async function adopt(plan: TemporalPlan): Promise<TemporalUp | undefined> {
  const left = await leftRunning(plan.folder);
  if (left === undefined) return undefined;
  if (await servesWithin(adoptWithinMs, left, plan)) {
    plan.log(`Temporal was still running (process ${left.running.pid}); using it.`);
    return left;
  }
  plan.log(`Temporal was still running (process ${left.running.pid}) but does not serve; replacing it.`);
  await plan.end(left.running);
  return undefined;
}

/** The pid file is checked against the port in the command line, since the pid may belong to another program by now. */
async function leftRunning(folder: string): Promise<TemporalUp | undefined> {
  const pid = Number(await readFile(join(folder, 'pid'), 'utf8').catch(() => ''));
  const files = [portFiles.port, portFiles.uiPort, portFiles.httpPort, portFiles.metricsPort];
  const [port, uiPort, httpPort, metricsPort] = await Promise.all(files.map((name) => readPort(join(folder, name))));
  if (!Number.isInteger(pid) || pid <= 0 || port === undefined || uiPort === undefined) return undefined;
  const running = await runningProcess(pid);
  const isOurs = running?.command.includes('start-dev') && `${running.command} `.includes(` --port ${port} `);
  return running !== undefined && isOurs === true ? { running, port, uiPort, httpPort, metricsPort } : undefined;
}

/** Undefined when it ended before it served. */
async function startNew(plan: TemporalPlan): Promise<TemporalUp | undefined> {
  const [port, uiPort, httpPort, metricsPort] = await Promise.all([
    keptPort(join(plan.folder, portFiles.port), plan.port),
    keptPort(join(plan.folder, portFiles.uiPort), plan.uiPort),
    keptPort(join(plan.folder, portFiles.httpPort), undefined),
    keptPort(join(plan.folder, portFiles.metricsPort), undefined),
  ]);
  const ports = { port, uiPort, httpPort, metricsPort };
  const running = await spawnTemporal(plan, ports);
  if (running === undefined) return undefined;
  const up = { running, ...ports };
  if (await servesWithin(readyWithinMs, up, plan)) return up;
  await plan.end(running);
  return undefined;
}

async function servesWithin(ms: number, { running, ...ports }: TemporalUp, wanted: TemporalWanted): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (Date.now() < deadline && (await isStillRunning(running))) {
    if (await temporalAnswers(ports, wanted)) return isStillRunning(running);
    await pause(lookEveryMs);
  }
  return false;
}
