import { sameCtrlCPressMs } from '../main/run-until-signal.ts';
import { CommandError } from './command-output-and-errors.ts';

/** The exit code of a program that Ctrl-C has ended. */
const interruptedExitCode = 130;

/** The error of a command that was interrupted and has cleaned up. */
export function interruptionError(message: string): CommandError {
  return new CommandError(message, interruptedExitCode);
}

export type Interruptions = ReturnType<typeof listenForInterruptions>;

/** Listens for signals, none of which ends the process from now on. */
export function listenForInterruptions(names: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM']) {
  const first = new AbortController();
  let lastAt = 0;
  let exitMessage: string | undefined;
  const onSignal = () => {
    const isSamePress = Date.now() - lastAt < sameCtrlCPressMs;
    lastAt = Date.now();
    if (isSamePress) return;
    if (!first.signal.aborted) return first.abort(interruptionError('Interrupted.'));
    if (exitMessage === undefined) return;
    process.stderr.write(`${exitMessage}\n`);
    process.exit(interruptedExitCode);
  };
  for (const name of names) process.on(name, onSignal);
  return {
    /** Aborted by the first signal. */
    signal: first.signal,
    /** From now on the second signal ends the process with this message, without cleaning up. */
    exitWith: (message: string) => {
      exitMessage = message;
    },
  };
}
