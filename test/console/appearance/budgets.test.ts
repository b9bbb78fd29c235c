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

/** What the browser loads before it shows the sign-in. */
function loadedFirst(): readonly string[] {
  const found = new Set<string>();
  const visit = (path: string) => {
    if (found.has(path)) return;
    found.add(path);
    for (const { path: to, kind } of outputs[path]?.imports ?? []) if (kind === 'import-statement') visit(to);
  };
  for (const [path, { entryPoint }] of Object.entries(outputs)) if (entryPoint === 'src/console/main.tsx') visit(path);
  return [...found].map((path) => path.split('/').at(-1) ?? path).filter((name) => name.endsWith('.js'));
}

function sizeOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + (sizes.get(file) ?? 0), 0);
}

test('the first page is at most 45 KB of compressed code, all code 140 KB, the style 15 KB, in eight requests', () => {
  const first = loadedFirst();
  assert.ok(first.length > 0, 'the first page was found');
  assert.ok(sizeOf(first) <= 45 * kB, `${sizeOf(first)} bytes: ${first.join(', ')}`);
  // The page itself, theme.js, the style and the font.
  assert.ok(first.length + 4 <= 8, first.join(', '));
  const names = [...sizes.keys()].filter((name) => !name.startsWith('docs-'));
  assert.ok(sizeOf(names.filter((name) => name.endsWith('.js'))) <= 140 * kB);
  const styles = names.filter((name) => name.startsWith('main-') && name.endsWith('.css'));
  assert.equal(styles.length, 1);
  assert.ok(sizeOf(styles) <= 15 * kB);
});

test('three parts of the code are loaded on demand: the pages of an account, those of operators, and passkeys', () => {
  const parts = Object.values(outputs).flatMap(({ imports }) =>
    imports.filter(({ kind }) => kind === 'dynamic-import'),
  );
  assert.equal(new Set(parts.map(({ path }) => path)).size, 3);
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
      /^(?:src\/(?!(?:console|platform|catalogue|accounts|media|tasks)\/|credits\/reports\/statement-section-titles\.ts$)|src\/platform\/database|activities|workflows)/.test(
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
