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
