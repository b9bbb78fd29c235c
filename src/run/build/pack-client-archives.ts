import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { ZipFile } from 'yazl';

// A step of build.mjs: writes the archives of both clients to dist/client-archives, which the service serves under /clients. `npm pack`
// makes the archive for npm; the wheel is what hatchling makes (PEP 427). The compiled TypeScript client is in the folder of the
// first argument.
const folder = fileURLToPath(new URL('../../../client-archives', import.meta.url));
const [compiled = ''] = process.argv.slice(2);

/** The same sources make the same archive. */
const sameTime = new Date('2026-01-01T00:00:00Z');

type Entry = { readonly name: string; readonly content: Buffer };

async function packForNpm(): Promise<void> {
  // Outside of this repository, whose workspaces npm would pack.
  const draft = await mkdtemp(join(tmpdir(), 'videogen-client-'));
  try {
    for (const file of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'])
      await cp(`clients/typescript/${file}`, join(draft, file));
    await cp(compiled, join(draft, 'dist'), { recursive: true });
    // npm hands on the options of the command that runs this build, such as `--workspaces`.
    const without = ['workspace', 'workspaces', 'dry_run'].flatMap((option) => ['-u', `npm_config_${option}`]);
    const pack = ['npm', 'pack', '--silent', '--pack-destination', folder];
    execFileSync('env', [...without, ...pack], { cwd: draft, stdio: 'pipe' });
  } finally {
    await rm(draft, { recursive: true });
  }
}

async function packForPip(): Promise<void> {
  const source = 'clients/python';
  const project = await readFile(`${source}/pyproject.toml`, 'utf8');
  const textOf = (field: string) => new RegExp(`^${field} = "(.*)"$`, 'm').exec(project)?.[1] ?? '';
  const [name, version] = [textOf('name').replaceAll('-', '_'), textOf('version')];
  const [, needed = ''] = /^dependencies = \[(.*)\]$/m.exec(project) ?? [];
  const info = `${name}-${version}.dist-info`;
  const metadata = [
    'Metadata-Version: 2.4',
    `Name: ${textOf('name')}`,
    `Version: ${version}`,
    `Summary: ${textOf('description')}`,
    `License-Expression: ${textOf('license')}`,
    'License-File: LICENSE',
    `Requires-Python: ${textOf('requires-python')}`,
    ...[...needed.matchAll(/"([^"]+)"/g)].map(([, one = '']) => `Requires-Dist: ${one}`),
    'Description-Content-Type: text/markdown',
    '',
    await readFile(`${source}/README.md`, 'utf8'),
  ].join('\n');
  const wheel = 'Wheel-Version: 1.0\nGenerator: videogen\nRoot-Is-Purelib: true\nTag: py3-none-any\n';
  const entries = [
    ...(await entriesOf(`${source}/src/${name}`, name)),
    { name: `${info}/METADATA`, content: Buffer.from(metadata) },
    { name: `${info}/WHEEL`, content: Buffer.from(wheel) },
    await entryOf(`${info}/licenses/LICENSE`, `${source}/LICENSE`),
  ];
  const record = entries.map((entry) => `${entry.name},sha256=${digestOf(entry)},${entry.content.length}`);
  const whole = [
    ...entries,
    { name: `${info}/RECORD`, content: Buffer.from([...record, `${info}/RECORD,,\n`].join('\n')) },
  ];
  const zip = new ZipFile();
  for (const entry of whole) zip.addBuffer(entry.content, entry.name, { mtime: sameTime });
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(join(folder, `${name}-${version}-py3-none-any.whl`)));
}

async function entriesOf(path: string, prefix: string): Promise<readonly Entry[]> {
  const found = await readdir(path, { recursive: true, withFileTypes: true });
  const files = found
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.pyc'))
    .map((entry) => join(entry.parentPath, entry.name).slice(join(path).length + 1))
    .toSorted();
  return Promise.all(files.map((file) => entryOf(`${prefix}/${file}`, join(path, file))));
}

async function entryOf(name: string, path: string): Promise<Entry> {
  return { name, content: await readFile(path) };
}

function digestOf({ content }: Entry): string {
  return createHash('sha256').update(content).digest('base64url');
}

await mkdir(folder, { recursive: true });
await packForNpm();
await packForPip();
