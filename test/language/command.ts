import { checkFiles } from './check-files.ts';

// Lists the findings of the files and folders given: `node dist/test/language/command.js PATH…`.

const findings = checkFiles(process.argv.slice(2));
const counts = new Map<string, number>();
for (const { word } of findings) counts.set(word, (counts.get(word) ?? 0) + 1);
const lines = [
  ...findings.map(({ file, line, word, text, instead }) => `${file}:${line}: ${word}: ${text}  [${instead}]`),
  `${findings.length} findings`,
  ...[...counts].toSorted(([, one], [, other]) => other - one).map(([word, count]) => `${count}  ${word}`),
];
process.stdout.write(`${lines.join('\n')}\n`);
process.exitCode = findings.length === 0 ? 0 : 1;
