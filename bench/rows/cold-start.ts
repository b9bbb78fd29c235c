import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { keptPort } from '../../src/embedded/kept-port.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { startChild } from '../child.ts';
import { interleaved } from '../rounds.ts';
import { type Row, showMs, times } from '../row.ts';
import { benchPostgres, benchTemporal } from '../servers.ts';
import { median } from '../statistics.ts';

/** `npm start` on a new data folder until it says that it is ready, beside its two servers alone, started together. */
export async function coldStartRow(folder: string): Promise<Row> {
  const lengths = await interleaved({ floor: () => serversAlone(folder), ours: () => wholeStart(folder) });
  const [floor, ours] = [median(lengths.floor), median(lengths.ours)];
  return {
    what: 'cold start on a new data folder, until /readyz',
    floor: `Temporal and PostgreSQL alone: ${showMs(floor)}`,
    measured: showMs(ours),
    ratio: times(ours / floor),
    target: '≤ 1.5 ×',
    isReached: ours / floor <= 1.5,
  };
}

async function serversAlone(folder: string): Promise<number> {
  const data = await mkdtemp(join(folder, 'servers-'));
  const startedAt = performance.now();
  const servers = await Promise.all([benchPostgres(data), benchTemporal(data)]);
  const tookMs = performance.now() - startedAt;
  await Promise.all(servers.map((server) => server.stop()));
  await rm(data, { recursive: true });
  return tookMs;
}

async function wholeStart(folder: string): Promise<number> {
  const data = await mkdtemp(join(folder, 'start-'));
  const port = await keptPort(undefined, undefined);
  const { DATABASE_URL: _database, TEMPORAL_ADDRESS: _temporal, ...environment } = process.env;
  const startedAt = performance.now();
  const env = { ...environment, VIDEOGEN_DATA: data, PORT: String(port), NODE_ENV: 'production' };
  const child = startChild('../src/cli.js', env, ['start']);
  await waitFor('the service to be ready', () => isReady(`http://127.0.0.1:${port}/readyz`), 60_000);
  const tookMs = performance.now() - startedAt;
  await child.stop();
  await rm(data, { recursive: true });
  return tookMs;
}

async function isReady(url: string): Promise<true | undefined> {
  const response = await fetch(url).catch(() => undefined);
  return response?.ok === true ? true : undefined;
}
