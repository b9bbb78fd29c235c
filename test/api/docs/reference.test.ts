import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { sections } from '../../../src/api/endpoints.ts';
import { type ReferenceSample, referenceSamples } from '../../support/documents/reference-samples.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

const run = promisify(execFile);
const languages = ['sh', 'ts', 'python'];

let service: HttpService;
let samples: readonly ReferenceSample[];
before(async () => {
  service = await startHttpService();
  samples = referenceSamples(service.deps.catalogue(), service.deps.publicUrl);
});
after(() => service.close());

const operationsOf = (isForOperators: boolean) =>
  sections
    .filter((section) => (section.isForOperators ?? false) === isForOperators)
    .flatMap(({ endpoints }) => endpoints);

for (const [path, isForOperators] of [
  ['/docs/reference', false],
  ['/docs/reference/operators', true],
] as const) {
  test(`200 ${path} shows each endpoint of its readers with three samples, and no other endpoint`, async () => {
    const html = (await service.send('GET', path)).bytes.toString().replaceAll(/\s+/g, ' ');
    for (const { operationId, path: route, method } of operationsOf(isForOperators)) {
      const [, section = ''] = html.split(`<h3 id="${operationId}">`);
      const own = section.split('</section>')[0] ?? '';
      assert.ok(own.includes(`>${method.toUpperCase()}</span> <code>${route}</code>`), operationId);
      for (const language of languages)
        assert.ok(own.includes(`role="tabpanel" data-language="${language}"`), operationId);
    }
    for (const { operationId, path: route } of operationsOf(!isForOperators)) {
      assert.ok(!html.includes(`id="${operationId}"`), operationId);
      assert.ok(!html.includes(`<code>${route}</code>`), route);
    }
  });
}

test('200 clients see their endpoints alone: none of operators, the console or load balancers', () => {
  const shown = operationsOf(false);
  assert.ok(shown.length > 20);
  assert.deepEqual(
    shown.filter(
      ({ scope, path }) => scope === 'operator' || /^\/(?:api\/(?:admin|console)\/|healthz|readyz)/.test(path),
    ),
    [],
  );
});

describe('samples', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-samples-'));
  });
  after(() => rm(folder, { recursive: true }));

  test('in TypeScript compile under strict settings, with our client where they use it', async () => {
    const files = [
      ...samples.map(({ operationId, ts }) => [`${operationId}.ts`, ts] as const),
      ...quickstart('ts').map((text, index) => [`quickstart-${index}.ts`, text] as const),
    ];
    for (const [name, text] of files) await writeFile(join(folder, name), `${text}\nexport {};\n`);
    const paths = { 'videogen-client': [resolve('clients/typescript/src/index.ts')] };
    const options = { strict: true, noEmit: true, module: 'nodenext', target: 'es2023', skipLibCheck: true };
    const nodes = { types: ['node'], typeRoots: [resolve('node_modules/@types')], allowImportingTsExtensions: true };
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...options, ...nodes, paths } }),
    );
    const { stdout } = await run(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', folder]).catch(
      (error: { stdout: string }) => error,
    );
    assert.equal(stdout, '');
    assert.ok(files.some(([, text]) => text.includes("from 'videogen-client'")));
  });

  test('with curl parse in a shell, into one URL, known options and a body that is JSON', () => {
    const echo = String.raw`curl() { printf '%s\0' "$@"; printf '\1'; }`;
    const script = [echo, ...samples.map(({ sh }) => sh)].join('\n');
    const calls = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\u0001').slice(0, -1);
    assert.equal(calls.length, samples.length);
    for (const [index, call] of calls.entries()) {
      const [url = '', ...rest] = call.split('\0').slice(0, -1);
      assert.ok(URL.canParse(url), url);
      assert.ok(url.startsWith(service.deps.publicUrl), url);
      const body = rest[rest.indexOf('-d') + 1];
      if (rest.includes('-d')) assert.doesNotThrow(() => JSON.parse(body ?? ''), samples[index]?.operationId);
      const options = rest.filter((part) => /^-+[a-zA-Z]/.test(part));
      assert.deepEqual(
        options.filter((option) => !['-X', '-H', '-d', '-L', '-o', '--data-binary'].includes(option)),
        [],
      );
    }
  });

  test('in Python are programs that compile', { skip: skipWithoutPython() }, () => {
    const check = 'import ast, json, sys\nfor name, text in json.load(sys.stdin).items(): ast.parse(text, name)';
    const programs = Object.fromEntries([
      ...samples.map(({ operationId, python }) => [operationId, python] as const),
      ...quickstart('python').map((text, index) => [`quickstart ${index}`, text] as const),
    ]);
    execFileSync('python3', ['-c', check], { input: JSON.stringify(programs) });
  });
});

/** The samples of the quickstart in one language. */
function quickstart(language: string): readonly string[] {
  const blocks = readFileSync('docs/quickstart.md', 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm);
  const found = [...blocks].filter(([, name]) => name === language).map(([, , text = '']) => text);
  assert.equal(found.length, 2);
  return found;
}

function skipWithoutPython(): string | false {
  try {
    execFileSync('python3', ['--version']);
    return false;
  } catch {
    return 'python3 is not on this machine';
  }
}
