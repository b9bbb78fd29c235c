/** A signal, and the seconds until the next one. */
export type EndStep = readonly [signal: string, seconds: number];

/**
 * The watcher runs beside a program that this process starts, and ends it if this process ends in any way, also by SIGKILL: the system then
 * closes the pipe to the standard input of the shell. The shell first starts the watcher, without staying its parent, and then becomes the
 * program, so that the program never runs without one and its pid stays the same.
 */
const script = `
exec 3<&0 </dev/null
program=$$ steps=$1
shift
(
  (
    read -r _ <&3 && exit
    for step in $steps; do
      kill -s "\${step%:*}" "$program" || exit 0
      seconds="\${step#*:}"
      while [ "$seconds" -gt 0 ]; do
        /bin/sleep 1
        kill -0 "$program" || exit 0
        seconds=$((seconds - 1))
      done
    done
  ) >/dev/null 2>&1 &
)
exec "$@" 3<&-
`;

/** Returns the command that runs a program which ends with this process. Spawn it with a pipe as its standard input. */
export function commandEndingWithParent(
  file: string,
  args: readonly string[],
  steps: readonly EndStep[],
): { readonly file: string; readonly args: string[] } {
  const named = steps.map(([signal, seconds]) => `${signal.replace(/^SIG/, '')}:${seconds}`).join(' ');
  return { file: '/bin/sh', args: ['-c', script, 'videogen-bound', named, file, ...args] };
}

/** The exit codes of the shell if it cannot start the program: no process for the watcher, no permission, or no such file. */
export const notStartedCodes: readonly unknown[] = [2, 126, 127];
