import { CommandError } from './output.ts';

/** The exit code of a program that was ended by Ctrl-C. */
const interruptedExitCode = 130;

/** What a command throws after it was broken off and has put things in order. */
export function interrupted(message: string): CommandError {
  return new CommandError(message, interruptedExitCode);
}

/** One press of Ctrl-C may arrive twice: from the terminal, and passed on by the program in between. */
const samePressMs = 500;

export type Interruptions = ReturnType<typeof listenForInterruptions>;

/** Listens for Ctrl-C, SIGTERM and, when asked to, the closing of the terminal; none of them ends the process from now on. */
export function listenForInterruptions(names: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM']) {
  const first = new AbortController();
  let lastAt = 0;
  let lastWords: string | undefined;
  const onSignal = () => {
    const isSamePress = Date.now() - lastAt < samePressMs;
    lastAt = Date.now();
    if (isSamePress) return;
    if (!first.signal.aborted) return first.abort(interrupted('Broken off.'));
    if (lastWords === undefined) return;
    process.stderr.write(`${lastWords}\n`);
    process.exit(interruptedExitCode);
  };
  for (const name of names) process.on(name, onSignal);
  return {
    /** Aborted by the first. */
    signal: first.signal,
    /** From now on the second one ends the process with these words, and puts nothing in order. */
    leaveWith: (words: string) => {
      lastWords = words;
    },
  };
}
