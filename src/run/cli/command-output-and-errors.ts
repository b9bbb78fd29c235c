import type { Command } from 'commander';
import { basename, relative } from 'node:path';

/** The output of a command: with `--json` one JSON object, otherwise lines of text. Prints nothing if both are empty. */
export type CommandAnswer = { readonly json: Readonly<Record<string, unknown>>; readonly lines: readonly string[] };

/** A command failed for a reason that its message explains to the operator. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;
  /** What `--json` prints. */
  readonly json: Readonly<Record<string, unknown>>;

  constructor(message: string, exitCode = 1, json: CommandError['json'] = { error: message }) {
    super(message);
    this.exitCode = exitCode;
    this.json = json;
  }
}

/** The error of wrong usage, which a repetition does not change. */
export function usageError(message: string): CommandError {
  return new CommandError(message, usageExitCode);
}

export const usageExitCode = 2;

export function notFoundError(noun: string, id: string | number): CommandError {
  return new CommandError(`${noun} not found: ${id}`);
}

let isAnswered = false;

/** True if this process has printed the answer of its command. */
export function hasAnswered(): boolean {
  return isAnswered;
}

export function printAnswer({ json, lines }: CommandAnswer, asJson: boolean): void {
  isAnswered = true;
  if (asJson) {
    if (Object.keys(json).length > 0) process.stdout.write(`${JSON.stringify(json)}\n`);
  } else if (lines.length > 0) process.stdout.write(`${escapeControlCharacters(lines.join('\n'))}\n`);
}

/** Prompts and messages of upstreams could contain control sequences for the operator's terminal. */
export function escapeControlCharacters(text: string): string {
  const escaped = (control: string) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`;
  return text.replaceAll(/\p{Cc}/gu, (control) => (control === '\n' ? control : escaped(control)));
}

type Columns<Row> = { readonly header: readonly string[]; readonly cells: (row: Row) => readonly string[] };

/** A list, whose name in JSON is also that of its rows in the sentence about an empty one, as in `signUps`: No sign-ups. */
export function listAnswer<Row>(name: string, rows: readonly Row[], { header, cells }: Columns<Row>): CommandAnswer {
  const words = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return {
    json: { [name]: rows },
    lines: rows.length === 0 ? [`No ${words}.`] : alignColumns(header, rows.map(cells)),
  };
}

/** Aligns rows in columns, below their header unless that is empty. */
export function alignColumns(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = header.length === 0 ? rows : [header, ...rows];
  const widths = (all[0] ?? []).map((_cell, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const padded = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
  return all.map((row) => padded(row).join('  ').trimEnd());
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

export function isJsonRequested(program: Command): boolean {
  return program.opts<{ json?: boolean }>().json === true;
}

/** Returns a command line as the operator would type it: `videogen` if that is on the PATH, else the file that Node runs. */
export function commandLineAsTyped(...args: readonly string[]): string {
  const script = process.argv[1] ?? 'dist/src/run/cli/cli.js';
  const fromHere = relative(process.cwd(), script);
  const path = fromHere.startsWith('..') ? script : fromHere;
  return [basename(script) === 'videogen' ? 'videogen' : `node ${path}`, ...args].join(' ');
}
