import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../src/embedded/persisted-port.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Bench, Rows } from '../bench.ts';
import { startChild } from '../child.ts';
import { interleaved } from '../rounds.ts';
import { nothingToReach, type Row, showMs, times } from '../row.ts';
import { benchPostgres, benchTemporal } from '../servers.ts';
import { median } from '../statistics.ts';

/**
 * Milliseconds from a start until the service was ready, and until its workers
 * ran.
 */
type Start = { readonly readyMs: number; readonly workersMs: number };
/**
 * The first start on a new data folder, and the second one on the same folder.
 */
type Starts = { readonly first: Start; readonly second: Start };

/**
 * Measures `npm start` until it is ready, beside the start of its two servers
 * alone.
 */
export async function* coldStartRows({ folder }: Bench): Rows {
  const starts = await interleaved({
    floor: () => twice(folder, 'servers-', serversAlone),
    ours: () => twice(folder, 'start-', wholeStart),
  });
  yield rowOf('cold start on a new data folder, until /readyz', 'first', starts);
  yield rowOf('start on the same data folder again, until /readyz', 'second', starts);
}

function rowOf(what: string, which: keyof Starts, starts: Record<'floor' | 'ours', readonly Starts[]>): Row {
  const typical = (whose: 'floor' | 'ours', figure: keyof Start) =>
    median(starts[whose].map((start) => start[which][figure]));
  const [floor, ours] = [typical('floor', 'readyMs'), typical('ours', 'readyMs')];
  return {
    what,
    floor: `Temporal and PostgreSQL alone: ${showMs(floor)}`,
    measured: `${showMs(ours)}; ${showMs(typical('ours', 'workersMs'))} until the workers run, too`,
    ratio: times(ours / floor),
    ...(which === 'first' ? { target: '≤ 2.5 ×', isReached: ours / floor <= 2.5 } : nothingToReach),
  };
}

async function twice(folder: string, prefix: string, start: (data: string) => Promise<Start>): Promise<Starts> {
  const data = await mkdtemp(join(folder, prefix));
  const starts = { first: await start(data), second: await start(data) };
  await rm(data, { recursive: true });
  return starts;
}

async function serversAlone(data: string): Promise<Start> {
  const startedAt = performance.now();
  const servers = await Promise.all([benchPostgres(data), benchTemporal(data)]);
  const readyMs = performance.now() - startedAt;
  await Promise.all(servers.map((server) => server.stop()));
  return { readyMs, workersMs: Number.NaN };
}

async function wholeStart(data: string): Promise<Start> {
  const port = await freePort();
  const { DATABASE_URL: _database, TEMPORAL_ADDRESS: _temporal, ...environment } = process.env;
  const env = { ...environment, VIDEOGEN_DATA: data, PORT: String(port), NODE_ENV: 'production' };
  const startedAt = Date.now();
  const child = startChild('../src/cli/cli.js', env, ['start']);
  await waitFor('the service to be ready', () => isReady(`http://127.0.0.1:${port}/readyz`), 60_000);
  const readyMs = Date.now() - startedAt;
  const runningAt = await waitFor('the workers to run', () => workersRunSince(data, startedAt), 60_000);
  await child.stop();
  return { readyMs, workersMs: runningAt - startedAt };
}

async function isReady(url: string): Promise<true | undefined> {
  const response = await fetch(url).catch(() => undefined);
  return response?.ok === true ? true : undefined;
}

/**
 * Returns when the workers ran, by the log of the service, which continues over
 * its starts.
 */
async function workersRunSince(data: string, startedAt: number): Promise<number | undefined> {
  const lines = (await readFile(join(data, 'videogen.log'), 'utf8')).trim().split('\n');
  const line = lines.findLast((text) => text.includes('"worker is running"'));
  const [, time = ''] = /"time":"([^"]+)"/.exec(line ?? '') ?? [];
  return Date.parse(time) >= startedAt ? Date.parse(time) : undefined;
}
