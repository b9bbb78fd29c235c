import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom, type Random } from '../../src/providers/preview/film-random.ts';
import { runPlan } from '../runner/run-files.ts';
import { failedTests, type FileReport, hasPassed } from '../runner/spawn-tests.ts';
import { sourceFiles } from '../support/imports.ts';
import { seedVariable, tierVariable } from '../support/tier.ts';
import { type Edit, editsOf } from './edits.ts';
import { enterCopy, openTypes, plant, type Planted } from './planted.ts';
import { roomOf, testsOf } from './tests-of.ts';

// `npm run mutants -- --seed 7 --count 60 [--near 8] [--only FILE]`: plants bugs of one line, one at a time, in a copy of the project, until so many
// have compiled, and prints which tests notice each: those that the file's name leads to, the others of its room (of which `--near` runs
// the nearest only), or none. A test that also fails without the bug does not count.

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '30' },
    near: { type: 'string' },
    only: { type: 'string' },
  },
  allowPositionals: true,
});
/** The strings of the console and of the command line are read by people; migrations never change. */
const isLeftOut = /^src\/(?:console|run\/(?:cli|build|schema))\/|\/write-[\w-]+\.ts$|\.tsx$|-text\.ts$/;
const processLimitMs = 5 * 60_000;
const filesPerProcess = 4;
/** A file with few places to edit may have no other that compiles. */
const mostDraws = 20;

type Mutant = { readonly file: string; readonly edit: Edit };
type Verdict = 'types' | 'name' | 'room' | 'survived';

/** Files that fail without any bug. */
const broken = new Set<string>();

const folder = await mkdtemp(join(tmpdir(), 'videogen-mutants-'));
enterCopy(join(folder, 'copy'));
const types = openTypes();
const counts: Record<Verdict, number> = { types: 0, name: 0, room: 0, survived: 0 };
const count = Number(values.count);
for (const mutant of draws(createRandom(values.seed, 'mutants'), count * mostDraws)) {
  const shown = describe(mutant);
  const startedAt = performance.now();
  const { verdict, by = '' } = await judge(mutant);
  counts[verdict] += 1;
  const compiled = counts.name + counts.room + counts.survived;
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  if (verdict !== 'types') process.stdout.write(`${compiled} ${shown}\n  => ${verdict} ${by} (${seconds} s)\n`);
  if (compiled === count) break;
}
types.close();
process.stdout.write(`seed ${values.seed}: ${JSON.stringify(counts)}\n`);

/** Draws from every room once, then twice as often from a room with four times the files. */
function* draws(random: Random, most: number): Generator<Mutant> {
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
  const files = sourceFiles().filter((file) =>
    values.only === undefined ? !isLeftOut.test(file) : file === values.only,
  );
  const rooms = [...new Set(files.map(roomOf))].map((room) => files.filter((file) => roomOf(file) === room));
  const shares = rooms.flatMap((room) => Array.from({ length: Math.ceil(Math.sqrt(room.length)) }, () => room));
  const drawn = new Set<string>();
  for (let turn = 0; turn < most; turn += 1) {
    const file = pick(rooms[turn] ?? pick(shares) ?? []) ?? '';
    const edits = editsOf(types.sourceOf(file));
    const kind = pick([...new Set(edits.map((edit) => edit.kind))]);
    const edit = pick(edits.filter((one) => one.kind === kind));
    const key = `${file} ${JSON.stringify(edit)}`;
    if (edit !== undefined && !drawn.has(key)) yield { file, edit };
    drawn.add(key);
  }
}

async function judge({ file, edit }: Mutant): Promise<{ readonly verdict: Verdict; readonly by?: string | undefined }> {
  const planted = plant(file, edit);
  try {
    if (!types.accepts(file)) return { verdict: 'types' };
    planted.build();
    const { byName, byRoom } = testsOf(file);
    const near = values.near === undefined ? byRoom.length : Number(values.near);
    for (const [verdict, files] of [
      ['name', byName],
      ['room', byRoom.slice(0, near)],
    ] as const) {
      const by = await firstFailure(files, planted.without);
      if (by !== undefined) return { verdict, by };
    }
    // The users of what those export that import the file are checked last, because it takes long.
    return { verdict: types.acceptsAll() ? 'survived' : 'types' };
  } finally {
    planted.remove();
    types.forget(file);
  }
}

/** Runs the files, until one fails that passes without the bug. */
async function firstFailure(files: readonly string[], without: Planted['without']): Promise<string | undefined> {
  const passed = new Set<string>();
  for (let left = files; left.length > 0;) {
    left = files.filter((file) => !broken.has(file) && !passed.has(file));
    const failed = await runUntilFailure(left, (file) => passed.add(file));
    if (failed === undefined) return undefined;
    const isBroken = await without(async () => (await runUntilFailure([failed.file], () => undefined)) !== undefined);
    const [first] = failedTests(failed);
    if (!isBroken) return `${failed.file}: ${first?.path.join(' > ') ?? failed.errors.join('; ')}`;
    broken.add(failed.file);
  }
  return undefined;
}

async function runUntilFailure(
  files: readonly string[],
  onPass: (file: string) => void,
): Promise<FileReport | undefined> {
  const stop = new AbortController();
  let failed: FileReport | undefined;
  const starts = files.flatMap((_file, index) => (index % filesPerProcess === 0 ? [index] : []));
  const processes = starts.map((start) => files.slice(start, start + filesPerProcess));
  await runPlan(
    { processes, exclusive: [] },
    {
      folder: join(folder, 'run'),
      testFolder: 'dist/test',
      env: { ...process.env, [tierVariable]: 'fast', [seedVariable]: '1' },
      concurrency: 2,
      processLimitMs: () => processLimitMs,
      limitMs: processLimitMs * 12,
      exitGraceMs: 60_000,
      signal: stop.signal,
      mayRunAgain: () => false,
      onReport: (report) => {
        if (hasPassed(report)) onPass(report.file);
        else if (!stop.signal.aborted) failed = report;
        if (failed !== undefined) stop.abort();
      },
    },
  );
  return failed;
}

function describe({ file, edit: { kind, start, end, text } }: Mutant): string {
  const source = types.sourceOf(file).text;
  const line = source.slice(0, start).split('\n').length;
  const short = (part: string) => part.replaceAll(/\s+/g, ' ').trim().slice(0, 160);
  return `${file}:${line} [${kind}] ${short(source.slice(start, end))} -> ${short(text) || '(removed)'}`;
}
