import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { ZipFile } from 'yazl';

// A step of build.mjs: writes the archives of both clients to dist/client-archives, which the service serves under /clients. The archive
// for npm is what `npm pack` makes, the wheel what hatchling makes (PEP 427). The compiled TypeScript client is in the folder of the
// first argument.
const folder = fileURLToPath(new URL('../../../client-archives', import.meta.url));
const [compiled = ''] = process.argv.slice(2);

/** The same sources make the same archive. */
const sameTime = new Date('2026-01-01T00:00:00Z');

/** Tar consists of blocks of this size (POSIX ustar). */
const block = 512;

type Entry = { readonly name: string; readonly content: Buffer };

async function packForNpm(): Promise<void> {
  const source = 'clients/typescript';
  const { name, version } = JSON.parse(await readFile(`${source}/package.json`, 'utf8')) as Record<string, string>;
  const own = await Promise.all(
    ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'].map((file) => entryOf(file, join(source, file))),
  );
  const entries = [...own, ...(await entriesOf(compiled, 'dist'))];
  const parts = entries.flatMap((entry) => [tarHeader(`package/${entry.name}`, entry.content.length), padded(entry)]);
  const archive = gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * block)]), { level: 9 });
  await writeFile(join(folder, `${name}-${version}.tgz`), archive);
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
    .filter((entry) => entry.isFile() && !/\.pyc$|\.tsbuildinfo$/.test(entry.name))
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

function padded({ content }: Entry): Buffer {
  return Buffer.concat([content, Buffer.alloc((block - (content.length % block)) % block)]);
}

function tarHeader(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`the path is too long for the archive: ${name}`);
  const header = Buffer.alloc(block);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  header.write(name, 0);
  header.write(
    octal(0o644, 8) + octal(0, 8) + octal(0, 8) + octal(size, 12) + octal(sameTime.getTime() / 1000, 12),
    100,
  );
  // The sum counts its own field as spaces.
  header.write(`${' '.repeat(8)}0`, 148);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

await mkdir(folder, { recursive: true });
await packForNpm();
await packForPip();
