import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Bench } from './bench.ts';
import { loadNow, machine } from './machine.ts';
import { type Part, parts } from './parts.ts';
import { startProductionTemporal } from './production-temporal.ts';
import { keepSection, reportOf } from './results-file.ts';
import { type Row, tableOf } from './row.ts';
import { benchPostgres, benchTemporal } from './servers.ts';

// `npm run bench`: every row beside its floor, on the same servers, in the same run; prints one table in less than ten minutes.
//   --long             instead of that, the parts that take longer: memory, growth, engines, photographs and peers
//   --only PARTS       these alone, by their names in bench/parts.ts, with commas between them
//   --memory-tasks N   whole tasks until memory is looked at for good; 10,000 unless said otherwise
//   --quick            short loads, to try the bench itself; its figures mean little
//   --write FILE       keeps the table, too, in the place of the last one that the same command made
// TEMPORAL_SERVER_PATH names a production server for the rows on PostgreSQL, with `temporal-sql-tool` beside it. The rows on
// BullMQ want a `redis-server` on the PATH or at REDIS_SERVER_PATH, and fetch the packages of bench/peers when they are missing.

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    only: { type: 'string' },
    write: { type: 'string' },
    'memory-tasks': { type: 'string' },
  },
});
const say = (text: string) => process.stderr.write(`${text}\n`);
const serverPath = process.env['TEMPORAL_SERVER_PATH'] || undefined;
const chosen = chosenParts();
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

function chosenParts(): readonly (readonly [name: string, part: Part])[] {
  const names = options.only?.split(',');
  const unknown = (names ?? []).filter((name) => !Object.hasOwn(parts, name));
  if (unknown.length > 0) {
    say(`There is no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}.`);
    process.exit(1);
  }
  return Object.entries(parts).filter(
    ([name, { isLong }]) => names?.includes(name) ?? (isLong === true) === options.long,
  );
}

async function startServers(): Promise<Bench> {
  const [postgres, temporal] = await Promise.all([kept(benchPostgres(folder)), kept(benchTemporal(folder))]);
  const { url: postgresUrl } = postgres;
  return {
    folder,
    postgresUrl,
    temporal,
    production: (serverPath && (await kept(startProductionTemporal({ serverPath, postgresUrl, folder })))) || undefined,
    quick: options.quick,
    loadMs: options.quick ? 500 : 2_000,
    warmUpMs: options.quick ? 500 : 8_000,
    batch: options.quick ? 64 : 150,
    memoryTasks: Number(options['memory-tasks'] ?? (options.quick ? 400 : 10_000)),
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
/** How long each part took. */
const minutes: string[] = [];

async function measure(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [name, part] of chosen) {
    say(`${name} …`);
    const from = performance.now();
    const added = await part.measure(bench, { say, note }).catch((error: unknown) => failed(name, error));
    minutes.push(`${name} ${minutesSince(from)}`);
    rows.push(...added);
    // Not lost when a later part is broken off.
    say(`${tableOf(added)}\n${minutes.at(-1)} minutes`);
  }
  return rows;
}

function failed(name: string, error: unknown): readonly Row[] {
  say(String(error instanceof Error ? error.stack : error));
  return [{ what: name, floor: '–', measured: `failed: ${String(error)}`, ratio: '–', target: '–', isReached: false }];
}

function minutesSince(from: number): string {
  return ((performance.now() - from) / 60_000).toFixed(1);
}

async function report(): Promise<string> {
  const table = tableOf(await measure());
  const facts = await machine(bench, loadBefore, serverPath);
  const elsewhere =
    'What takes longer by nature is measured by `npm run bench -- --long`: memory over 10,000 whole tasks, growth step by step, ' +
    'the development server, posters that are made here, films of photographs, and what people would pick instead.';
  const without = 'TEMPORAL_SERVER_PATH was not set, so nothing was measured on the production server with PostgreSQL.';
  return [
    `${minutesSince(startedAt)} minutes: ${minutes.join(', ')}; the rest is for the servers.`,
    facts.map((line) => `- ${line}`).join('\n'),
    table,
    ...(bench.production === undefined ? [without] : []),
    ...(options.only === undefined && !options.long ? [elsewhere] : []),
    ...notes,
  ].join('\n\n');
}

/** The command that makes this table again. */
function command(): string {
  const { write: _write, ...rest } = options;
  const words = Object.entries(rest).flatMap(([name, value]) =>
    value === undefined || value === false ? [] : [`--${name}`, ...(value === true ? [] : [value])],
  );
  const environment = serverPath === undefined ? [] : ['TEMPORAL_SERVER_PATH=…'];
  return [...environment, 'npm run bench', ...(words.length > 0 ? ['--', ...words] : [])].join(' ');
}

const section = { title: command(), text: await report() };
process.stdout.write(reportOf([section]));
if (options.write !== undefined) await keepSection(options.write, section);
await end(0);
