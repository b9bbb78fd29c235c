/** What a command has to say: with `--json` one JSON object and nothing else, otherwise lines for a person. */
export type Answer = { readonly json: Readonly<Record<string, unknown>>; readonly lines: readonly string[] };

/** A command that cannot do what it was asked; the message is a sentence for the person at the keyboard. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Writes the answer to standard output. */
export function printAnswer({ json, lines }: Answer, asJson: boolean): void {
  process.stdout.write(asJson ? `${JSON.stringify(json)}\n` : `${lines.join('\n')}\n`);
}
