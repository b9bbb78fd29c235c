import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { Bench } from '../../bench/bench.ts';
import { measureParts } from '../../bench/measure-parts.ts';
import { type Part, parts } from '../../bench/parts.ts';
import { nothingToReach, type Row } from '../../bench/row.ts';
import { endOf, endPrograms, startProgram } from '../support/processes/programs.ts';

const serverPath = process.env['TEMPORAL_SERVER_PATH'] || undefined;
const engine = serverPath === undefined ? 'development server' : 'production server on PostgreSQL';
const wholeTask = 'whole task, instant provider that delivers a poster, 32 at once';
const checkout = resolve('.');

/** The beginning of each row, by part. */
const rows: Readonly<Record<string, readonly string[]>> = {
  http: [
    'createTask, 32 callers, Temporal stopped',
    'createTask, 1 caller, Temporal stopped',
    'createTask, one hot account',
    'createTask, 32 callers, Temporal starting',
    'recordInfo of finished tasks',
  ],
  engine: [
    `${wholeTask}, ${engine}`,
    'the same until its callback',
    'processor time of one whole task',
    'where the time of one workflow goes',
    `${wholeTask}, beside the checkout`,
  ],
  peers: ['peer: Temporal, used in the textbook way'],
  memory: ['memory after'],
  growth: [
    'whole task, createTask until recordInfo',
    'createTask, 1 caller, 2,000 tasks',
    'recordInfo of a finished task',
  ],
  outstanding: ['upstream polled at its rate'],
};

const skip = process.platform !== 'linux' && 'processor times are read from /proc, which Linux alone has';

describe('the bench', { skip }, () => {
  let bench: { output: string; status: number | null; table: string; written: string };
  const named = (beginning: string) => linesOf(bench.table).filter(({ what }) => what.startsWith(beginning));
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-bench-test-'));
    const file = join(folder, 'RESULTS.md');
    const args = ['--quick', '--only', Object.keys(parts).join(','), '--beside', checkout, '--write', file];
    const program = startProgram('../../../bench/run.js', args, {
      env: process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [table, output] = await Promise.all([textOf(program.stdout), textOf(program.stderr)]);
    const { code } = await endOf(program);
    const written = await readFile(file, 'utf8').catch(() => '');
    bench = { table, output, status: code, written };
  });

  after(async () => {
    await endPrograms();
    await rm(folder, { recursive: true, force: true });
  });

  test('measures every part, and ends with status 0', () => {
    // Its end says why it failed.
    assert.equal(bench.status, 0, bench.output.slice(-2_000));
    assert.deepEqual(Object.keys(rows).toSorted(), Object.keys(parts).toSorted());
  });

  for (const [part, beginnings] of Object.entries(rows))
    test(`has the rows of the part ${part}, with figures`, () => {
      for (const beginning of beginnings) {
        const found = named(beginning);
        assert.equal(found.length, 1, `${beginning}: ${found.length} rows\n${bench.output}`);
        assert.match(found[0]?.measured ?? '', /\d/);
        assert.doesNotMatch(found[0]?.measured ?? '', /NaN|Infinity|undefined|failed/);
      }
    });

  test('has no other row, and writes the same ones', () => {
    const known = Object.values(rows).flat();
    const whats = linesOf(bench.table).map(({ what }) => what);
    assert.deepEqual(
      whats.filter((what) => !known.some((beginning) => what.startsWith(beginning))),
      [],
    );
    assert.deepEqual(
      linesOf(bench.written).map(({ what }) => what),
      whats,
    );
  });
});

test('a part that fails or has no row makes the exit status 1, and the others have their rows', { skip }, async () => {
  const row: Row = { what: 'a row', floor: '1', measured: '2', ratio: '2 ×', ...nothingToReach };
  const last: Row = { ...row, what: 'the last row' };
  const measured = await measure({
    fails: async function* () {
      yield row;
      await Promise.reject(new Error('no figure'));
    },
    empty: async function* () {},
    works: async function* () {
      yield last;
    },
  });
  assert.equal(measured.exitStatus, 1);
  assert.deepEqual(
    measured.rows.map(({ what, measured: figure }) => [what, figure]),
    [
      ['a row', '2'],
      ['the rest of fails', 'failed: Error: no figure'],
      ['the rest of empty', 'failed: Error: empty has no row'],
      ['the last row', '2'],
    ],
  );
});

function measure(measures: Readonly<Record<string, Part['measure']>>) {
  const chosen = Object.entries(measures).map(([name, one]) => [name, { measure: one }] as const);
  // These parts use no servers.
  return measureParts(chosen, {} as Bench, () => {});
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  return stream === null ? '' : text(stream);
}

/** The lines of a table, without its head. */
function linesOf(report: string): readonly { readonly what: string; readonly measured: string }[] {
  const lines = report.split('\n').filter((line) => line.startsWith('| ') && !/^\| (?:what\b|-)/.test(line));
  return lines.map((line) => {
    const [, what = '', , measured = ''] = line.split('|').map((cell) => cell.trim());
    return { what, measured };
  });
}
