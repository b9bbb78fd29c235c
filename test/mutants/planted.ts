import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { transformSync } from 'esbuild';
import type { SourceFile } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';
import { imports, reachedFrom } from '../support/imports.ts';
import type { Edit } from './edits.ts';

/** Copies the built project, without what a run does not read, and makes the copy the working folder. */
export function enterCopy(folder: string): void {
  const isLeftOut = new Set(['node_modules', '.git', '.cache'].map((name) => resolve(name)));
  cpSync('.', folder, { recursive: true, verbatimSymlinks: true, filter: (path) => !isLeftOut.has(resolve(path)) });
  symlinkSync(resolve('node_modules'), resolve(folder, 'node_modules'));
  process.chdir(folder);
}

/** Parses and checks the files of the working folder. */
export function openTypes() {
  const api = new API({ cwd: process.cwd() });
  let snapshot: ReturnType<typeof api.updateSnapshot> | undefined;
  const update = (change: Parameters<typeof api.updateSnapshot>[0]) => {
    const before = snapshot;
    snapshot = api.updateSnapshot(change);
    // Each snapshot holds the types of the whole project.
    before?.dispose();
    const [project] = snapshot.getProjects();
    if (project === undefined) throw new Error('tsconfig.json not found');
    return project.program;
  };
  let program = update({ openProjects: ['tsconfig.json'] });
  const lines = imports();
  return {
    sourceOf(file: string): SourceFile {
      const source = program.getSourceFile(resolve(file));
      if (source === undefined) throw new Error(`${file} is not in tsconfig.json`);
      return source;
    },
    /** Checks a file that has changed, and those that import it. */
    accepts(file: string): boolean {
      program = update({ fileChanges: { changed: [resolve(file)] } });
      const users = lines.filter((line) => line.to === file).map((line) => line.file);
      // The console is checked by a configuration of its own.
      const checked = [file, ...users].filter((one) => program.getSourceFile(resolve(one)) !== undefined);
      return checked.every((one) => {
        const found = [program.getSyntacticDiagnostics(resolve(one)), program.getSemanticDiagnostics(resolve(one))];
        return found.flat().length === 0;
      });
    },
    /** Checks all files, in a process of its own, because it takes a gigabyte. */
    acceptsAll(): boolean {
      const { status } = spawnSync('node_modules/typescript/bin/tsc', ['-p', 'tsconfig.json', '--noEmit']);
      return status === 0;
    },
    forget: (file: string) => void (program = update({ fileChanges: { changed: [resolve(file)] } })),
    close: () => api.close(),
  };
}

const workflowFiles = new Set(reachedFrom(['workflows/index.ts'], ({ typeOnly }) => !typeOnly));

/** `without` puts the file and what was built back for one call, `remove` for good. */
export type Planted = {
  readonly build: () => void;
  readonly without: <T>(run: () => Promise<T>) => Promise<T>;
  readonly remove: () => void;
};

/** Writes the file with the edit; `build` compiles it. */
export function plant(file: string, { start, end, text }: Edit): Planted {
  const built = `dist/${file.replace(/ts$/, 'js')}`;
  const isBundled = workflowFiles.has(file);
  const changed = [file, built, ...(isBundled ? ['dist/workflow-bundle.js', 'dist/workflow-bundle-traced.js'] : [])];
  const contents = () => changed.map((path) => [path, readFileSync(path)] as const);
  const write = (files: ReturnType<typeof contents>) =>
    files.forEach(([path, content]) => writeFileSync(path, content));
  const before = contents();
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, source.slice(0, start) + text + source.slice(end));
  return {
    build(): void {
      const tsconfigRaw = { compilerOptions: { verbatimModuleSyntax: true } };
      const options = {
        loader: 'ts',
        format: 'esm',
        target: 'es2023',
        sourcefile: basename(file),
        tsconfigRaw,
      } as const;
      const { code } = transformSync(readFileSync(file, 'utf8'), options);
      writeFileSync(built, code.replaceAll(/(from |import |import\()(["'])(\.[^"']+)\.ts\2/g, '$1$2$3.js$2'));
      if (isBundled) execFileSync(process.execPath, ['dist/src/temporal/bundle-workflows.js'], { stdio: 'ignore' });
    },
    async without(run) {
      const planted = contents();
      write(before);
      try {
        return await run();
      } finally {
        write(planted);
      }
    },
    remove: () => write(before),
  };
}
