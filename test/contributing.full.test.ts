import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { diffsIn, withDiff } from './support/documents/diffs.ts';

const run = promisify(execFile);
const sources = ['src', 'activities', 'workflows', 'clients', 'test', 'bench', 'package.json', 'tsconfig.json'];

let copy: string;
before(async () => {
  copy = await mkdtemp(join(tmpdir(), 'videogen-contributing-'));
  const isSource = (path: string) => !path.includes('node_modules');
  for (const path of sources) await cp(path, join(copy, path), { recursive: true, filter: isSource });
  await symlink(resolve('node_modules'), join(copy, 'node_modules'));
});
after(() => rm(copy, { recursive: true, force: true }));

test('all diffs of CONTRIBUTING.md together compile', async () => {
  for (const diff of diffsIn(await readFile('CONTRIBUTING.md', 'utf8'))) {
    const path = join(copy, diff.path);
    // Other files are no part of the program.
    const from = existsSync(path) ? path : diff.path;
    const text = diff.isNew ? '' : await readFile(from, 'utf8');
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, withDiff(text, diff));
  }
  const compiler = join('node_modules', 'typescript', 'bin', 'tsc');
  const failed = await run(process.execPath, [compiler, '--noEmit', '--project', 'tsconfig.json'], { cwd: copy }).then(
    () => '',
    // The compiler writes to standard output.
    ({ stdout }: { readonly stdout: string }) => stdout,
  );
  assert.equal(failed, '');
});
