import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What a script of `ops/ci` keeps up for as long as its command runs, such as a container engine. */
export type ScriptStage = {
  /** The variables that it gives its command, and those of this process. */
  readonly env: NodeJS.ProcessEnv;
  /** Ends it; resolves when it has cleaned up. */
  close(): Promise<void>;
};

/**
 * Runs a script until `close`, or until this process ends. The script is no descendant of this process and does not use its folder: the
 * test runner kills both, and the script needs time to clean up. `names` is a pattern of the variables that it sets.
 */
export async function openScriptStage(script: string, names: string): Promise<ScriptStage> {
  const command = `env | grep -E '^(${names})='; echo "SHELL_PID=$$"; while kill -0 "$1" 2>/dev/null; do sleep 1; done`;
  const { TMPDIR: _, ...surroundings } = process.env;
  const { stdout } = spawn('setsid', ['--fork', script, 'sh', '-c', command, 'sh', String(process.pid)], {
    env: surroundings,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(stdout, 'close');
  let text = '';
  for await (const chunk of stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (/^SHELL_PID=.*\n/m.test(text)) break;
  }
  const values: NodeJS.ProcessEnv = {};
  for (const [, name = '', value] of text.matchAll(/^(\w+)=(.+)$/gm)) values[name] = value;
  const { SHELL_PID: pid, ...env } = values;
  if (pid === undefined) throw new Error(`${script} did not start its command`);
  return {
    env: { ...process.env, ...env },
    close: async () => {
      process.kill(Number(pid));
      stdout.resume();
      await ended;
    },
  };
}
