import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Python's standard library opens pseudo-terminals; Node's does not. */
const hasPython = spawnSync('python3', ['-c', 'import pty, fcntl, termios']).status === 0;
export const skipWithoutTerminal = hasPython ? false : 'python3, which opens the pseudo-terminal, is not here';

const columns = 80;

/** Runs its arguments in a terminal of 80 columns, as the leader of its session; what comes in is typed there. */
const program = `
import fcntl, os, pty, select, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 40, ${columns}, 0, 0))
    os.execvp(sys.argv[1], sys.argv[1:])
sources = [terminal, 0]
while True:
    ready, _, _ = select.select(sources, [], [])
    if 0 in ready:
        typed = os.read(0, 1024)
        if typed: os.write(terminal, typed)
        else: sources.remove(0)
    if terminal in ready:
        try: shown = os.read(terminal, 65536)
        except OSError: break
        if not shown: break
        os.write(1, shown)
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
`;

export type Terminal = {
  readonly child: ChildProcess;
  /** Everything written so far, control sequences included. */
  readonly output: () => string;
  readonly pressCtrlC: () => void;
  /** The exit code of the program. */
  readonly exited: Promise<number | null>;
};

/** Runs `videogen …` in a pseudo-terminal. */
export function videogenInTerminal(env: NodeJS.ProcessEnv, cwd: string, ...args: readonly string[]): Terminal {
  const cli = fileURLToPath(new URL('../../../src/run/cli/cli.js', import.meta.url));
  const child = spawn('python3', ['-c', program, process.execPath, cli, ...args], {
    env: { ...env, TERM: 'xterm' },
    cwd,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // It may have ended when a key is pressed.
  child.stdin.on('error', () => undefined);
  const output: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text));
  // the arguments of 'close'
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return { child, output: () => output.join(''), pressCtrlC: () => child.stdin.write('\u0003'), exited };
}

/** The lines that are wider than the terminal, which would break inside words there; a line that is redrawn counts each time. */
export function tooWide(output: string): readonly string[] {
  // oxlint-disable-next-line no-control-regex -- what a terminal is told begins with ESC
  const plain = output.replaceAll(/\u001B\[[0-9;?]*[A-Za-z]/g, '');
  return plain.split(/[\r\n]+/).filter((line) => [...line].length > columns);
}
