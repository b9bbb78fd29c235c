/** Runs lines of a page, prints how long they took, and returns what they printed. */
export async function follow(
  place: { run(line: string): Promise<string> },
  what: string,
  lines: readonly string[],
): Promise<string> {
  const startedAt = performance.now();
  const printed: string[] = [];
  for (const line of lines) printed.push(await place.run(line));
  say(`${what}: ${Math.round((performance.now() - startedAt) / 1000)} s`);
  return printed.join('');
}

export function say(text: string): void {
  for (const line of text.trim().split('\n')) process.stdout.write(`# ${line}\n`);
}
