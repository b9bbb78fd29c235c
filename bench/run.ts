import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Bench } from './bench.ts';
import { killChildren } from './child.ts';
import { loadNow, machine } from './machine.ts';
import { type Measured, measureParts, minutesSince } from './measure-parts.ts';
import { type Part, parts } from './parts.ts';
import { startProductionTemporal } from './production-temporal.ts';
import { keepSection, reportOf } from './results-file.ts';
import { tableOf } from './row.ts';
import { benchPostgres, benchTemporal } from './servers.ts';

// `npm run bench` measures the main figures, each beside its floor, on the same
// servers and in the same run.
//   --long           measures the longer parts of bench/parts.ts instead
//   --only PARTS     measures only these parts, separated by commas
//   --beside FOLDER  measures whole tasks of another built checkout, too
//   --quick          uses short loads, to test the bench; its figures mean little
//   --write FILE     replaces the table of the same command in this file
// TEMPORAL_SERVER_PATH names a production server of Temporal, with
// `temporal-sql-tool` in the same folder; without it, rows use the development
// server only. The part `growth` draws bench/growth.svg.
//
// A part that fails does not stop the others. The report has the rows of all
// parts and the error, and the exit status is 1.

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    only: { type: 'string' },
    beside: { type: 'string' },
    write: { type: 'string' },
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
// The servers would outlive this process, so they are also stopped when it is
// interrupted or a part of it fails.
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
  const development = { name: 'development server', address: temporal.address, pid: temporal.pid };
  const production =
    serverPath === undefined ? undefined : await kept(startProductionTemporal({ serverPath, postgresUrl, folder }));
  return {
    folder,
    postgresUrl,
    postgresPid: postgres.pid,
    development,
    engine: production === undefined ? development : { name: 'production server on PostgreSQL', ...production },
    beside: options.beside,
    quick: options.quick,
    loadMs: options.quick ? 100 : 2_000,
    warmUpMs: options.quick ? 0 : 8_000,
    batchMs: 8_000,
  };
}

async function end(code: number): Promise<never> {
  killChildren();
  for (const server of servers.toReversed()) await server.stop();
  // A child that was killed may still be writing its last files.
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  process.exit(code);
}

async function report({ rows, asides }: Measured): Promise<string> {
  const facts = await machine(bench, loadBefore, serverPath);
  const without = 'TEMPORAL_SERVER_PATH was not set, so nothing was measured on the production server with PostgreSQL.';
  const long = Object.keys(parts).filter((name) => parts[name]?.isLong);
  const elsewhere = `What readers ask for more seldom is measured by \`npm run bench -- --long\`: ${long.join(', ')}.`;
  return [
    facts.map((line) => `- ${line}`).join('\n'),
    `${minutesSince(startedAt)} minutes. Each part, and the share of the machine that anything but this bench used meanwhile: ${asides.join('; ')}.`,
    tableOf(rows),
    ...(bench.engine === bench.development ? [without] : []),
    ...(options.only === undefined && !options.long ? [elsewhere] : []),
  ].join('\n\n');
}

/** Returns the command that reproduces this table. */
function command(): string {
  const { write: _write, beside, ...rest } = options;
  const words = Object.entries(rest).flatMap(([name, value]) =>
    value === undefined || value === false ? [] : [`--${name}`, ...(value === true ? [] : [value])],
  );
  if (beside !== undefined) words.push('--beside …');
  const environment = serverPath === undefined ? [] : ['TEMPORAL_SERVER_PATH=…'];
  return [...environment, 'npm run bench', ...(words.length > 0 ? ['--', ...words] : [])].join(' ');
}

const measured = await measureParts(chosen, bench, say);
const section = { title: command(), text: await report(measured) };
process.stdout.write(reportOf([section]));
if (options.write !== undefined) await keepSection(options.write, section);
await end(measured.exitStatus);
