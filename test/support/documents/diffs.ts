import assert from 'node:assert/strict';

// The diffs of a Markdown page. They show no line numbers: each context line and each removed line is the next one of its file that is
// equal. An added line follows the line before it in the diff, and a diff that only adds is appended.

export type FileDiff = { readonly path: string; readonly isNew: boolean; readonly lines: readonly string[] };

export function diffsIn(markdown: string): readonly FileDiff[] {
  const blocks = [...markdown.matchAll(/^```diff\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  return blocks.flatMap((block) =>
    [...block.matchAll(/^--- (.+)\n\+\+\+ b\/(.+)\n((?:[ +-](?!-- |\+\+ ).*\n)*)/gm)].map(
      ([, before, path = '', lines = '']) => ({
        path,
        isNew: before === '/dev/null',
        lines: lines.split('\n').slice(0, -1),
      }),
    ),
  );
}

/** Returns the text of a file with the diff; fails for a line that the file does not have there. */
export function withDiff(text: string, { path, lines }: FileDiff): string {
  const ofFile = text.replace(/\n$/, '').split('\n');
  const result: string[] = [];
  let added: string[] = [];
  let next = 0;
  for (const [sign, line] of lines.map((one) => [one[0], one.slice(1)] as const)) {
    if (sign === '+') added.push(line);
    else {
      const found = ofFile.indexOf(line, next);
      assert.ok(found !== -1, `${path} has no line "${line}" after its line ${next}`);
      const [before, after] = next === 0 ? [[], added] : [added, []];
      result.push(...before, ...ofFile.slice(next, found), ...after, ...(sign === '-' ? [] : [line]));
      [added, next] = [[], found + 1];
    }
  }
  const rest = ofFile.slice(next);
  return `${[...result, ...(next === 0 ? [...rest, ...added] : [...added, ...rest])].join('\n')}\n`;
}
