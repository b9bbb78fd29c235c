import { basename, relative } from 'node:path';

/** How the person at the keyboard calls this program: `videogen` where that is on the PATH, else the file they gave to Node. */
export function invocation(...args: readonly string[]): string {
  const script = process.argv[1] ?? 'dist/src/cli.js';
  const program = basename(script) === 'videogen' ? 'videogen' : `node ${shorter(script)}`;
  return [program, ...args].join(' ');
}

function shorter(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
}
