#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { readFileSync } from 'node:fs';
import { printErrorAndExit } from '../main/run-until-signal.ts';
import { addExamples } from './add-command.ts';
import { commandsByName } from './commands.ts';
import { CommandError, hasAnswered, usageExitCode } from './command-output-and-errors.ts';

// Compiled, this file lies in dist/src/run/cli. A package.json without a version is not ours.
const { version } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('videogen')
  .description('AI video generation as a dependable paid API')
  .option('--json', 'print one JSON object on standard output and nothing else there')
  .version(version, '--version', 'print the version')
  .exitOverride();
addExamples(program, [
  'start',
  'generate "a lighthouse in a storm" --duration 4',
  'api GET /api/admin/v1/accounts',
  'key create --help',
]);

/** Returns the command on the command line; all commands if it is unknown, for the help and for commander's error. */
function requestedCommands() {
  const [first, second] = process.argv.slice(2);
  const named = Object.entries(commandsByName).filter(([name]) => name === (first === '--json' ? second : first));
  return named.length > 0 ? named.map(([, add]) => add) : Object.values(commandsByName);
}

const asJson = process.argv.includes('--json');

/** With --json, the error is also the one object on standard output, unless the answer of the command is. */
function fail(error: unknown): never {
  const message = error instanceof Error ? error.message.replace(/^error: /, '') : String(error);
  const json = error instanceof CommandError ? error.json : { error: message };
  if (asJson && !hasAnswered()) process.stdout.write(`${JSON.stringify(json)}\n`);
  if (error instanceof CommanderError) process.exit(usageExitCode);
  printErrorAndExit(error);
}

process.umask(0o077);
try {
  for (const add of requestedCommands()) await add(program);
  await program.parseAsync();
} catch (error) {
  // Help and version.
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0);
  fail(error);
}
