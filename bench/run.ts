import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Bench } from './bench.ts';
import { growth } from './growth.ts';
import { startHttpFloor } from './http-floor.ts';
import type { Load } from './load.ts';
import { loadNow, machine } from './machine.ts';
import { startProductionTemporal } from './production-temporal.ts';
import { type Row, tableOf } from './row.ts';
import { callbackRow } from './rows/callbacks.ts';
import { coldStartRow } from './rows/cold-start.ts';
import { createTaskAgainRow, createTaskRows, taskBody } from './rows/create-task.ts';
import { peerRows } from './rows/peers.ts';
import { previewRow } from './rows/preview-render.ts';
import { recordInfoRow } from './rows/record-info.ts';
import { liveRows } from './rows/visible.ts';
import { wholeTaskRows } from './rows/whole-task.ts';
import { benchPostgres, benchTemporal } from './servers.ts';
import { benchAccounts, benchService } from './service.ts';

// `npm run bench`: every row beside its floor, on the same servers, in the same run; prints one table. The whole of it took 19 minutes.
//   --quick            short loads, to try the bench itself; its figures mean little
//   --only PART        one part alone: http, engine, live, callbacks, preview, start or peers
//   --memory-tasks N   whole tasks until memory is looked at; 10,000 take some minutes more
//   --write FILE       keeps the table, too
// TEMPORAL_SERVER_PATH names a production server for the rows on PostgreSQL, with `temporal-sql-tool` beside it. The rows on
// BullMQ want a `redis-server` on the PATH or at REDIS_SERVER_PATH, and fetch the packages of bench/peers when they are missing.

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    write: { type: 'string' },
    'memory-tasks': { type: 'string' },
  },
});
const say = (text: string) => process.stderr.write(`${text}\n`);
const serverPath = process.env['TEMPORAL_SERVER_PATH'] || undefined;
const loadBefore = loadNow();
const startedAt = performance.now();
const folder = await mkdtemp(join(tmpdir(), 'videogen-bench-'));
const servers: { stop(): Promise<void> }[] = [];
const kept = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
  const server = await starting;
  servers.push(server);
  return server;
};
// The servers outlive this process unless they are stopped, also when it is interrupted or a part of it fails.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(1));
const bench = await startServers().catch(async (error: unknown) => {
  say(String(error));
  return end(1);
});

async function startServers(): Promise<Bench> {
  const [postgres, temporal] = await Promise.all([kept(benchPostgres(folder)), kept(benchTemporal(folder))]);
  const { url: postgresUrl } = postgres;
  return {
    folder,
    postgresUrl,
    temporal,
    production: (serverPath && (await kept(startProductionTemporal({ serverPath, postgresUrl, folder })))) || undefined,
    loadMs: options.quick ? 500 : 2_000,
    batch: options.quick ? 64 : 150,
    memoryTasks: Number(options['memory-tasks'] ?? (options.quick ? 400 : 1_500)),
  };
}

async function end(code: number): Promise<never> {
  for (const server of servers.toReversed()) await server.stop();
  await rm(folder, { recursive: true, force: true });
  process.exit(code);
}

/** What is left out and why, for the report. */
const notes: string[] = [];
const note = (text: string) => {
  notes.push(text);
  say(text);
};

const parts: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  http: httpRows,
  engine: engineRows,
  live: () => liveRows(bench),
  callbacks: async () => [await callbackRow(bench)],
  preview: async () => [
    await previewRow(folder, 5, 0),
    await previewRow(folder, 15, 0),
    await previewRow(folder, 5, 3),
    await previewRow(folder, 15, 3),
  ],
  start: async () => [await coldStartRow(folder)],
  peers: () => peerRows(bench, note),
};

async function httpRows(): Promise<readonly Row[]> {
  const service = await benchService(bench, bench.temporal.address);
  const floor = await startHttpFloor(bench, taskBody);
  const accounts = await benchAccounts(service.db, 64);
  const [reader] = await benchAccounts(service.db, 1);
  if (reader === undefined) throw new Error('no account');
  try {
    const creates = await createTaskRows(bench, service, floor, accounts);
    const rows = [...creates.rows];
    let before: Load | undefined;
    for (const { what, grow } of growth(service.db, { reader, owners: accounts, quick: options.quick })) {
      const ids = await grow();
      const reading = { account: reader, ids, what: `recordInfo of finished tasks, 32 callers${what}` };
      const { row, load } = await recordInfoRow(bench, service, floor, { ...reading, ...(before && { before }) });
      rows.push(row);
      if (before !== undefined) {
        const again = { what: `createTask, 32 callers${what}`, before: creates.quietLoad };
        rows.push(await createTaskAgainRow(bench, service, accounts, again));
      }
      before ??= load;
    }
    return rows;
  } finally {
    await Promise.all([service.close(), floor.close()]);
  }
}

async function engineRows(): Promise<readonly Row[]> {
  const development = { name: 'development server', address: bench.temporal.address, withMemory: true };
  const rows = await wholeTaskRows(bench, development);
  if (bench.production === undefined) return rows;
  const onPostgres = { name: 'production server on PostgreSQL', address: bench.production.address, withMemory: false };
  return [...(await wholeTaskRows(bench, onPostgres)), ...rows];
}

async function measure(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [name, part] of Object.entries(parts)) {
    if (options.only !== undefined && options.only !== name) continue;
    say(`${name} …`);
    try {
      const added = await part();
      rows.push(...added);
      // Not lost when a later part is broken off.
      say(tableOf(added));
    } catch (error) {
      say(String(error instanceof Error ? error.stack : error));
      rows.push({
        what: name,
        floor: '–',
        measured: `failed: ${String(error)}`,
        ratio: '–',
        target: '–',
        isReached: false,
      });
    }
  }
  return rows;
}

async function report(): Promise<string> {
  const table = tableOf(await measure());
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  const command = ['npm run bench --', ...process.argv.slice(2)].join(' ').replace(/ --$/, '');
  const missing =
    'TEMPORAL_SERVER_PATH was not set, so the rows on the production server with PostgreSQL are left out.';
  return [
    '# How fast, beside what the same machine does without us',
    `Made by \`${command}\` in ${minutes} minutes. Every row stands beside a floor that was measured in the same run on the same ` +
      'servers, in turns; figures are medians of three rounds. **All of it shares the cores named below: the load, the ' +
      'service, Temporal and PostgreSQL**, so absolute figures say what is left over for one part beside the others.',
    (await machine(bench, loadBefore, serverPath)).map((line) => `- ${line}`).join('\n'),
    table,
    ...(bench.production === undefined ? [missing] : []),
    ...notes,
  ].join('\n\n');
}

const text = `${await report()}\n`;
process.stdout.write(text);
if (options.write !== undefined) await writeFile(options.write, text);
await end(0);
