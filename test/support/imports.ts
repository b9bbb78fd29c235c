import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** `to`: a file of ours, or a package. */
export type Import = { readonly file: string; readonly to: string; readonly typeOnly: boolean };

export function sourceFiles(): readonly string[] {
  return ['src', 'activities', 'workflows'].flatMap(filesUnder);
}

export function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder)
    .toSorted()
    .flatMap((name) => {
      const path = join(folder, name);
      if (statSync(path).isDirectory()) return filesUnder(path);
      return /\.tsx?$/.test(path) ? [path] : [];
    });
}

/** Everything of ours that these files import, directly or not, and the packages they end at; sorted. */
export function reachedFrom(files: readonly string[], isFollowed: (line: Import) => boolean): readonly string[] {
  const reached = new Set<string>();
  const visit = (file: string) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const line of importsOf(file)) {
      if (!isFollowed(line)) continue;
      if (isOurs(line.to)) visit(line.to);
      else reached.add(line.to);
    }
  };
  files.forEach(visit);
  return [...reached].toSorted();
}

export function imports(): readonly Import[] {
  return sourceFiles().flatMap(importsOf);
}

export const importLine =
  /(?:^|\n)(?:import|export)\s+(type\s)?(?:([^;'"]*?)\bfrom\s*)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]/g;

export function importsOf(file: string): readonly Import[] {
  return [...readFileSync(file, 'utf8').matchAll(importLine)].map(([, type, names, from, dynamic]) => {
    const name = from ?? dynamic ?? '';
    const to = name.startsWith('.') ? relative('.', join(dirname(file), name)) : packageOf(name);
    const inlineTypes = /^\{\s*(type\s+[^,]+,?\s*)+\}\s*$/.test((names ?? '').trim());
    return { file, to, typeOnly: type !== undefined || inlineTypes };
  });
}

/** `@koa/router` and `koa/lib` are packages; `node:fs` stays as it is. */
function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

export function isOurs(path: string): boolean {
  return /\.tsx?$/.test(path);
}
