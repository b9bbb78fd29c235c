import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, test } from 'node:test';
import { settingDefaults } from '../src/run/config/config.ts';
import { diffsIn, withDiff } from './support/documents/diffs.ts';

// What the documents say about the files beside them: links, paths, settings, log lines and diffs.

const filesIn = (folder: string, ending: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
const others = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'clients/typescript/README.md',
  'clients/python/README.md',
];
const documents = [...others, 'ops/helm/videogen/README.md', ...filesIn('docs', '.md')];
const textOf = (document: string) => readFileSync(document, 'utf8');
const withoutCode = (markdown: string) => markdown.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(document: string): readonly string[] {
  const headings = [...withoutCode(textOf(document)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
}

test('samples of different pages have different Idempotency-Keys, so that running one after another is no conflict', () => {
  const keys = documents.flatMap((document) => {
    const found = textOf(document).matchAll(/idempotency[-_]?key['"]?(?:: ?|=)['"]?([\w-]+-\d+)\b/gi);
    return [...new Set([...found].map(([, key]) => key))];
  });
  assert.ok(keys.length >= 3);
  assert.deepEqual(
    keys.filter((key, index) => keys.indexOf(key) !== index),
    [],
  );
});

for (const document of documents) {
  test(`links of ${document} lead to files and headings that exist`, () => {
    const links = [...withoutCode(textOf(document)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    for (const link of links.filter((one) => !/^https?:/.test(one))) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? document : normalize(join(dirname(document), path));
      assert.ok(existsSync(target), link);
      if (anchor !== undefined) assert.ok(anchorsOf(target).includes(anchor), link);
    }
  });

  test(`npm scripts that ${document} names exist`, () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
    const named = [...textOf(document).matchAll(/\bnpm run ([a-z][\w:-]*)/g)].map(([, name = '']) => name);
    assert.deepEqual(
      named.filter((name) => scripts[name] === undefined),
      [],
    );
  });

  test(`paths that ${document} names exist`, () => {
    const folders = 'activities|assets|bench|clients|docs|examples|ops|src|test|workflows';
    const named = withoutCode(textOf(document)).matchAll(new RegExp(`\`((?:${folders})/[\\w./-]+)\``, 'g'));
    // Tests are named without their ending, as the runner takes them.
    const isThere = (path: string) =>
      existsSync(path) || ['.test.ts', '.full.test.ts', '.long.test.ts'].some((ending) => existsSync(path + ending));
    assert.deepEqual(
      [...named].map(([, path = '']) => path).filter((path) => !path.endsWith('/dist') && !isThere(path)),
      [],
    );
  });
}

test('no table of a document is empty', () => {
  const empty = documents.filter((document) => /^\| -[-| ]*\n(?!\|)/m.test(textOf(document)));
  assert.deepEqual(empty, []);
});

test('documents that other files name exist', () => {
  const folders = ['activities', 'assets', 'bench', 'ops', 'src', 'test', 'workflows'];
  const atTheTop = ['.env.example', 'docker-compose.yml', 'Dockerfile', 'examples/provider.py'];
  const files = [
    ...atTheTop,
    ...folders.flatMap((folder) =>
      ['.ts', '.tsx', '.yml', '.yaml', '.json', '.md'].flatMap((one) => filesIn(folder, one)),
    ),
  ];
  const named = files.flatMap((file) =>
    [...textOf(file).matchAll(/(?<![\w./])docs\/[\w./-]+\.(?:md|yaml|json|png)/g)].map(([path]) => ({ file, path })),
  );
  assert.ok(named.length > 50);
  assert.deepEqual(
    named.filter(({ path }) => !existsSync(path)),
    [],
  );
});

/** Files of examples, which show how tests of each tier are named. */
const exampleNames = ['x.test.ts', 'x.full.test.ts', 'x.long.test.ts'];
const codeFolders = ['activities', 'bench', 'clients/typescript/src', 'src', 'test', 'workflows'];
const codeFiles = codeFolders.flatMap((folder) => ['.ts', '.tsx'].flatMap((ending) => filesIn(folder, ending)));
const codePaths = [...codeFiles.map((path) => `/${path}`), ...readdirSync('.').map((name) => `/${name}`)];
const isCodeFile = (name: string) =>
  exampleNames.includes(name) || codePaths.some((path) => path.endsWith(`/${name.replace(/^(?:\.\.?\/)+/, '')}`));

test('files of code that documents and comments name by their last part exist', () => {
  const inDocuments = documents.flatMap((document) =>
    [...withoutCode(textOf(document)).matchAll(/`([\w-][\w.-]*\.tsx?)`/g)].map(([, name = '']) => ({ document, name })),
  );
  const inComments = codeFiles.flatMap((file) =>
    [...textOf(file).matchAll(/^\s*(?:\*|\/\*\*?|.*(?<!:)\/\/) .*$/gm)].flatMap(([comment]) =>
      [
        ...comment
          .replace(/^.*(?<!:)\/\/ /, '')
          .matchAll(/(?<![\w./:@#'-])((?:\.{1,2}\/)*(?:[\w-]+\/)*[\w-][\w.-]*\.tsx?)\b/g),
      ].map(([, name = '']) => ({ document: file, name })),
    ),
  );
  assert.ok(inDocuments.length > 20 && inComments.length > 50, `${inDocuments.length}, ${inComments.length}`);
  assert.deepEqual(
    [...inDocuments, ...inComments].filter(({ name }) => !isCodeFile(name)),
    [],
  );
});

test('no document is too long to be read', () => {
  // Readers look up one section of the runbooks: a heading, a command and a paragraph for each alert.
  const alerts = textOf('ops/prometheus/alerts.yml').match(/- alert: /g)?.length ?? 0;
  const limits: Readonly<Record<string, number>> = {
    'README.md': 200,
    'docs/operations/runbooks.md': 10 + 9 * alerts,
  };
  const lengths = documents.map((document) => [document, textOf(document).split('\n').length - 1] as const);
  assert.deepEqual(
    lengths.filter(([document, lines]) => lines > (limits[document] ?? 300)),
    [],
  );
});

test('the reference explains every setting with its default, and no other', () => {
  const [section = ''] = /^## Settings\n[\s\S]*?^## /m.exec(textOf('docs/operations/reference.md')) ?? [];
  const rows = section.match(/^\| `[A-Z].*$/gm) ?? [];
  const explained = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([A-Z\d_]+)`/g)].map(([, name = '']) => name),
  );
  const settingNames = [...settingDefaults.keys()];
  // These belong to the machine.
  const elsewhere = ['PATH', 'XDG_CACHE_HOME'];
  assert.deepEqual(
    settingNames.filter((name) => !explained.includes(name)),
    settingNames.filter((name) => elsewhere.includes(name)),
  );
  const hasWrongDefault = (row: string) => {
    const [, names = '', shown = ''] = row.split('|');
    const defaults = [...names.matchAll(/`([A-Z\d_]+)`/g)].map(([, name = '']) => settingDefaults.get(name) ?? '');
    return defaults.some((value) => value !== '' && !shown.includes(`\`${value}\``));
  };
  assert.deepEqual(rows.filter(hasWrongDefault), []);
  // These are read by libraries.
  const libraries = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'];
  assert.deepEqual(
    explained.filter((name) => !settingNames.includes(name)),
    libraries,
  );
});

describe('a runbook', () => {
  const sources = ['src', 'activities', 'workflows'].flatMap((folder) => filesIn(folder, '.ts')).map(textOf);

  test('searches the log for lines that are written', () => {
    const runbooks = textOf('docs/operations/runbooks.md');
    const searched = [...runbooks.matchAll(/grep (?:-E )?'([^']+)'/g)].flatMap(([, pattern = '']) => {
      const [before = '', choices = '', after = ''] = pattern.split(/[()]/);
      return choices === '' ? pattern.split('|') : choices.split('|').map((choice) => before + choice + after);
    });
    assert.ok(searched.length > 5);
    assert.deepEqual(
      searched.filter((text) => !sources.some((source) => source.includes(text))),
      [],
    );
  });
});

test('the diffs of CONTRIBUTING.md fit the files that they change, one after the other', () => {
  const diffs = diffsIn(textOf('CONTRIBUTING.md'));
  assert.equal(diffs.length, textOf('CONTRIBUTING.md').match(/^\+\+\+ /gm)?.length);
  assert.ok(diffs.length > 5);
  const changed = new Map<string, string>();
  for (const diff of diffs) {
    const before = changed.get(diff.path) ?? (existsSync(diff.path) ? textOf(diff.path) : undefined);
    assert.equal(before === undefined, diff.isNew, diff.path);
    changed.set(diff.path, withDiff(before ?? '', diff));
  }
});

test('a diff fits only with its context and its removed lines in their order', () => {
  const changed = (...lines: readonly string[]) => withDiff('a\nb\nc\n', { path: 'x', isNew: false, lines });
  assert.equal(changed(' a', '+1', '-c', '+2'), 'a\n1\nb\n2\n');
  assert.equal(changed('+0', ' b'), 'a\n0\nb\nc\n');
  assert.equal(changed('+d'), 'a\nb\nc\nd\n');
  for (const lines of [[' d'], ['-d'], ['-c', ' b'], [' a', ' a']])
    assert.throws(() => changed(...lines), /x has no line/);
});
