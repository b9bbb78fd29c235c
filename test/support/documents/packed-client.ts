import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The home of the client. Tests run in the root of the project. */
export const clientSource = 'clients/typescript';

export const tsc: string = resolve('node_modules/typescript/bin/tsc');

/** Builds the client's package and installs its archive in the folder, as in another project. Returns the archive's files. */
export async function installPackedClient(folder: string): Promise<readonly string[]> {
  const staged = join(folder, 'staged');
  await mkdir(staged, { recursive: true });
  for (const file of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'src', 'tsconfig.json'])
    await cp(join(clientSource, file), join(staged, file), { recursive: true });
  await run(process.execPath, [tsc, '-p', clientSource, '--outDir', join(staged, 'dist')]);
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder, staged]);
  const [archive] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }]; // npm prints it
  await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  await run('npm', ['install', '--offline', '--ignore-scripts', '--no-audit', `./${archive.filename}`], {
    cwd: folder,
  });
  return archive.files.map(({ path }) => path);
}

/** The TypeScript examples of the client's README, in order. */
export async function readmeExamples(): Promise<readonly string[]> {
  const readme = await readFile(join(clientSource, 'README.md'), 'utf8');
  return [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code ?? '');
}
