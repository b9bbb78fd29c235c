import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Finding, findingsIn } from './rules.ts';
import {
  type Piece,
  piecesOfConfiguration,
  piecesOfJson,
  piecesOfMarkdown,
  piecesOfOpenApi,
  piecesOfTypeScript,
} from './source-text.ts';

export type FileFinding = Finding & { readonly file: string; readonly line: number };

const readers: readonly (readonly [RegExp, (text: string) => readonly Piece[]])[] = [
  [/\.(?:ts|tsx|mts|mjs|js)$/, piecesOfTypeScript],
  [/\.md$/, piecesOfMarkdown],
  [/(?:^|\/)openapi\.json$/, piecesOfOpenApi],
  [/\.json$/, piecesOfJson],
  [/\.(?:ya?ml|tpl|py|sh)$|\.env\.example$|Dockerfile$/, piecesOfConfiguration],
];

const skipped = /(?:^|\/)(?:node_modules|dist|\.git|package-lock\.json)(?:\/|$)/;

/** The findings of these files and folders. A name counts once per file. */
export function checkFiles(paths: readonly string[]): readonly FileFinding[] {
  return paths.flatMap(filesUnder).flatMap(checkFile);
}

function filesUnder(path: string): readonly string[] {
  if (skipped.test(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .toSorted()
    .flatMap((name) => filesUnder(join(path, name)));
}

function checkFile(file: string): readonly FileFinding[] {
  const reader = readers.find(([pattern]) => pattern.test(file))?.[1];
  if (reader === undefined) return [];
  const text = readFileSync(file, 'utf8');
  const ownName = findingsIn({ kind: 'name', text: basename(file), index: 0 });
  const names = new Set<string>();
  const findings = reader(text)
    .filter(({ kind, text: name }) => kind !== 'name' || (!names.has(name) && names.add(name)))
    .flatMap(findingsIn);
  return [...ownName, ...findings]
    .toSorted((one, other) => one.index - other.index)
    .map((found) => ({ ...found, file, line: text.slice(0, found.index).split('\n').length }));
}
