import { basename, dirname } from 'node:path';
import { filesUnder, imports, importsOf } from '../support/imports.ts';
import { tierOf } from '../support/tier.ts';

/** The tests that may notice an edit of a file, as names for the runner: those that its name leads to, then the others of its room, nearest first. */
export type TestsOf = { readonly byName: readonly string[]; readonly byRoom: readonly string[] };

const tests = filesUnder('test').filter((file) => file.endsWith('.test.ts'));
const sources = imports();
const imported = new Map(tests.map((file) => [file, new Set(importsOf(file).map(({ to }) => to))]));

/** `src/accounts/keys/keys.ts` belongs to `src/accounts`, `activities/index.ts` to `activities`. */
export function roomOf(file: string): string {
  const [top = '', room = ''] = file.split('/');
  return top === 'src' ? room : top;
}

/**
 * A file's name leads to the test of the same name; without one, to the tests in the folder of the same name. The nearest tests are in the
 * file's folder, import the file, stand at the top of its room, as those that hold all endpoints do, or are in the folder of a file that
 * imports it. Of a room, the fast tests run.
 */
export function testsOf(file: string): TestsOf {
  const named = tests.filter((one) => nameOf(one) === nameOf(file)).filter((one) => tierOf(one) !== 'long');
  const beside = besides(file);
  const byName = named.length > 0 ? named : beside;
  const users = sources.filter(({ to }) => to === file).map((line) => line.file);
  const near = [
    ...beside,
    ...tests.filter((one) => imported.get(one)?.has(file) === true),
    ...tests.filter((one) => dirname(one) === `test/${roomOf(file)}`),
    ...tests.filter((one) => users.some((user) => nameOf(user) === nameOf(one))),
    ...users.flatMap(besides),
  ];
  const inRoom = tests.filter((one) => roomOf(one.replace(/^test\//, 'src/')) === roomOf(file));
  const rest = [...new Set([...near, ...inRoom])].filter((one) => !byName.includes(one) && tierOf(one) === 'fast');
  return { byName: byName.map(asRun), byRoom: rest.map(asRun) };
}

function besides(file: string): readonly string[] {
  const folder = `test/${dirname(file).replace(/^src\//, '')}`;
  return tests.filter((one) => dirname(one) === folder && tierOf(one) === 'fast');
}

function nameOf(file: string): string | undefined {
  return basename(file).split('.')[0];
}

function asRun(file: string): string {
  return file.replace(/^test\//, '').replace(/ts$/, 'js');
}
