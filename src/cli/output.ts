import type { Command } from 'commander';
import { basename, relative } from 'node:path';

/** What a command has to say: with `--json` one JSON object and nothing else, otherwise lines for a person. */
export type Answer = { readonly json: Readonly<Record<string, unknown>>; readonly lines: readonly string[] };

/** A command that cannot do what it was asked; the message is a sentence for the person at the keyboard. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Writes the answer to standard output. */
export function printAnswer({ json, lines }: Answer, asJson: boolean): void {
  if (asJson) process.stdout.write(`${JSON.stringify(json)}\n`);
  else if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
}

/** All rows, a line for each. */
export function listed<Row>(name: string, rows: readonly Row[], line: (row: Row) => string): Answer {
  return { json: { [name]: rows }, lines: rows.length === 0 ? [`No ${name}.`] : rows.map(line) };
}

/** Rows below their header, in aligned columns; without a header when that is empty. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = header.length === 0 ? rows : [header, ...rows];
  const widths = (all[0] ?? []).map((_cell, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Whether `--json` was given. */
export function isJson(program: Command): boolean {
  return program.opts<{ json?: boolean }>().json === true;
}

/** How the person at the keyboard calls this program: `videogen` where that is on the PATH, else the file they gave to Node. */
export function invocation(...args: readonly string[]): string {
  const script = process.argv[1] ?? 'dist/src/cli/cli.js';
  const program = basename(script) === 'videogen' ? 'videogen' : `node ${shorter(script)}`;
  return [program, ...args].join(' ');
}

function shorter(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
}
