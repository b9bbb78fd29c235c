import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Metafile } from 'esbuild';

const folder = 'dist/console';
// The build wrote it.
const { inputs, outputs } = JSON.parse(readFileSync(join(folder, 'metafile.json'), 'utf8')) as Metafile;
const sizes = new Map(
  readdirSync(join(folder, 'assets'))
    .filter((name) => name.endsWith('.gz'))
    .map((name) => [name.slice(0, -'.gz'.length), readFileSync(join(folder, 'assets', name)).length]),
);
const kB = 1_024;

/** What the browser loads before it shows anything, and one page of the person's choice. */
function loadedWith(name: string): readonly string[] {
  const found = new Set<string>();
  const visit = (path: string) => {
    if (found.has(path)) return;
    found.add(path);
    for (const { path: to, kind } of outputs[path]?.imports ?? []) if (kind === 'import-statement') visit(to);
  };
  for (const [path, { entryPoint }] of Object.entries(outputs)) {
    if (entryPoint === 'src/console/main.tsx' || entryPoint?.endsWith(`/${name}.tsx`) === true) visit(path);
  }
  return [...found].map((path) => path.split('/').at(-1) ?? path);
}

function sizeOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + (sizes.get(file) ?? 0), 0);
}

const pages = [
  'sign-in',
  'accept-link',
  'overview',
  'playground',
  'tasks',
  'task',
  'credits',
  'callbacks',
  'keys',
  'members',
  'settings',
];

for (const page of pages) {
  test(`the code of the page ${page} is at most 47 KB, compressed, in few files`, () => {
    const files = loadedWith(page);
    assert.ok(files.length >= 3, 'the page was found');
    const size = sizeOf(files);
    assert.ok(size <= 47 * kB, `${size} bytes: ${files.join(', ')}`);
  });
}

test('the first page takes at most eight requests: the page, theme, code, style and font', () => {
  const code = loadedWith('sign-in').filter((file) => file.endsWith('.js'));
  // The page itself, theme.js, the style and the font.
  assert.ok(code.length + 4 <= 8, code.join(', '));
});

test('all code is at most 132 KB, the style 15 KB, compressed', () => {
  const names = [...sizes.keys()];
  assert.ok(sizeOf(names.filter((name) => name.endsWith('.js') && !name.startsWith('docs-'))) <= 132 * kB);
  const styles = names.filter((name) => name.startsWith('main-') && name.endsWith('.css'));
  assert.equal(styles.length, 1);
  assert.ok(sizeOf(styles) <= 15 * kB);
});

test('the code of the pages under /docs is at most 6 KB, their style 8 KB, compressed', () => {
  const names = [...sizes.keys()].filter((name) => name.startsWith('docs-'));
  const [code, styles] = ['.js', '.css'].map((ending) => names.filter((name) => name.endsWith(ending)));
  assert.deepEqual([code?.length, styles?.length], [2, 1]);
  assert.ok(sizeOf(code ?? []) <= 6 * kB);
  assert.ok(sizeOf(styles ?? []) <= 8 * kB);
});

test('the bundle holds no zod, nothing of Node, and no endpoint, view or SQL of the server', () => {
  const files = Object.keys(inputs);
  assert.ok(files.length > 50, 'the files were found');
  const wrong = files.filter(
    (file) =>
      /node_modules\/zod\/|^node:|-(?:routes|view)\.ts$/.test(file) ||
      /^(?:src\/(?!(?:console|accounts|media|models|people|platform|tasks)\/)|src\/platform\/database|activities|workflows)/.test(
        file,
      ),
  );
  assert.deepEqual(wrong, []);
  const imported = Object.values(inputs).flatMap((input) => input.imports.map(({ path }) => path));
  assert.deepEqual(
    imported.filter((path) => path.startsWith('node:')),
    [],
  );
});
