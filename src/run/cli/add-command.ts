import type { Command } from 'commander';
import { commandLineAsTyped } from './command-output-and-errors.ts';

export const sampleTaskId = '019abc12-3456-7def-8901-234567890abc';
export const sampleKeyId = '019abc56-789a-7def-8901-234567890abc';

const examplesOf = new WeakMap<Command, readonly string[]>();

/**
 * Adds a command. An example contains what is typed after the words of the command; the default is nothing. The help of a group shows the
 * first example of each of its commands.
 */
export function addCommand(parent: Command, name: string, ...examples: readonly string[]): Command {
  const command = parent.command(name);
  const words = wordsOf(command).join(' ');
  const lines = (examples.length > 0 ? examples : ['']).map((rest) => `${words} ${rest}`.trim());
  return addExamples(command, lines);
}

/** Ends the help of a command with these lines, unless it is a group. */
export function addExamples(command: Command, lines: readonly string[]): Command {
  examplesOf.set(command, lines);
  const words = wordsOf(command);
  const shown = () =>
    words.length === 0 || command.commands.length === 0
      ? lines
      : command.commands.flatMap((below) => examplesOf.get(below)?.slice(0, 1) ?? []);
  command.addHelpText('after', () =>
    ['', 'Examples:', ...shown().map((line) => `  ${commandLineAsTyped(line)}`)].join('\n'),
  );
  // A whole help screen would hide the error message.
  return command.showHelpAfterError(`(examples: ${commandLineAsTyped(...words, '--help')})`);
}

/** The words that are typed for a command, without the program's name. */
function wordsOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...wordsOf(command.parent), command.name()];
}
