import { Command } from 'commander';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { commandsByName } from '../../../src/run/cli/commands.ts';
import { runsWholeMatrix } from '../../support/tier.ts';
import { spawnVideogen, videogen } from '../../support/processes/run-videogen.ts';
import { waitFor } from '../../support/wait-for.ts';

// Only the requested command is loaded, so a wrong name in the table of src/run/cli/commands.ts would hide a command.
const names = Object.keys(commandsByName);

test('the help names every command', async () => {
  const { code, stdout } = await videogen(process.env, '--help');
  assert.equal(code, 0);
  // Names are indented by two columns, further lines of descriptions by more.
  const [help = ''] = stdout.split('\nExamples:\n');
  const listed = [...help.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name]) => name);
  assert.deepEqual(listed, [...names, 'help']);
});

test('every command is found, also after --json; its help and that of its subcommands ends with examples that can be typed', async () => {
  let level: string[][] = [[]];
  while (level.length > 0) level = (await inTwos(level, commandsBelow)).flat();
});

/** Checks the help of a command, and returns its subcommands. */
async function commandsBelow(words: readonly string[]): Promise<string[][]> {
  // A subcommand is loaded with its command, so its help needs a program of its own in the long tier only.
  const text = await (words.length <= 1 || runsWholeMatrix ? printedHelp(words) : loadedHelp(words));
  assert.match(text, new RegExp(`^Usage: videogen ${words.join(' ')}`));
  const [help = '', examples = ''] = text.split('\nExamples:\n');
  const typed = new RegExp(`^( {2}node \\S+\\.js ${words.join(' ')}.*\\n)+$`);
  assert.match(examples, typed, words.join(' '));
  const [, below = ''] = help.split('\nCommands:\n');
  const subcommands = [...below.matchAll(/^ {2}([a-z][a-z-]*) /gm)].flatMap(([, name = 'help']) =>
    name === 'help' ? [] : [name],
  );
  return subcommands.map((name) => [...words, name]);
}

async function printedHelp(words: readonly string[]): Promise<string> {
  // documented-commands.test.ts has commands without the option.
  const before = words.length === 1 ? ['--json'] : [];
  const { code, stdout } = await videogen(process.env, ...before, ...words, '--help');
  assert.equal(code, 0, words.join(' '));
  return stdout;
}

/** The help that this process prints. */
async function loadedHelp(words: readonly string[]): Promise<string> {
  const [name = ''] = words;
  const program = new Command('videogen');
  await commandsByName[name]?.(program);
  const below = (parent: Command, word: string) =>
    parent.commands.find((one) => one.name() === word) ?? assert.fail(word);
  let text = '';
  words
    .reduce(below, program)
    .configureOutput({ writeOut: (part) => (text += part) })
    .outputHelp();
  return text;
}

/** Two programs at a time, as many as the tests have processors. */
async function inTwos<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += 2) {
    results.push(...(await Promise.all(items.slice(at, at + 2).map(work))));
  }
  return results;
}

test('a typing error prints one line with a hint, not a screen of help', async () => {
  const unknown = await videogen(process.env, 'strat');
  assert.deepEqual([unknown.code, unknown.stdout], [2, '']);
  assert.match(unknown.stderr, /^error: unknown command 'strat'\n\(Did you mean start\?\)\n\(examples: .* --help\)\n$/);
  const missing = await videogen(process.env, 'key', 'create');
  assert.match(
    missing.stderr,
    /^error: required option '--account <account>' not specified\n\(examples: .* key create --help\)\n$/,
  );
});

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  assert.equal((await videogen(process.env, '--version')).stdout, `${version}\n`);
});

test('an unreachable service is reported immediately, with the reason, while the command retries', async () => {
  const running = spawnVideogen(
    process.env,
    'generate',
    'a storm',
    '--key',
    'vg_x',
    '--base-url',
    'http://127.0.0.1:1',
  );
  try {
    const down = /http:\/\/127\.0\.0\.1:1 cannot be reached: .*; retrying/;
    await waitFor('the warning', () => (down.test(running.stdout()) ? true : undefined));
    assert.equal(running.child.exitCode, null, 'it still retries');
    running.child.kill('SIGINT');
    const [code] = (await once(running.child, 'close')) as [number | null]; // what 'close' carries
    assert.equal(code, 130);
  } finally {
    running.child.kill('SIGKILL');
  }
});
