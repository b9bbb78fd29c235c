import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { waitFor } from '../wait-for.ts';

/** Which processes are meant: each field adds some. */
export type Whose = {
  /** A process group and the descendants of its members. */
  readonly group?: number | undefined;
  /** A folder that a process was started with, works in, or has as its `TMPDIR`; the last two where the system shows them. */
  readonly folder?: string | undefined;
};

export type Listed = { readonly pid: number; readonly parent: number; readonly group: number; readonly args: string };

/** The living processes that are meant, one line each with the id and the arguments; never this process. */
export async function processesOf(whose: Whose): Promise<readonly string[]> {
  return (await find(whose)).map(({ pid, args }) => `${pid} ${args}`);
}

/** Waits until the processes have ended, for `limitMs` at most; returns those that have not. */
export async function remainingOf(whose: Whose, limitMs: number): Promise<readonly string[]> {
  const gone = async () => ((await find(whose)).length === 0 ? true : undefined);
  await waitFor('the end of the processes', gone, limitMs).catch(() => undefined);
  return processesOf(whose);
}

/** Sends SIGKILL to all of them, also to what they start meanwhile; resolves when all have ended, or after the limit. */
export async function killAll(whose: Whose): Promise<void> {
  const gone = async () => {
    const found = await find(whose);
    for (const { pid } of found) kill(pid);
    return found.length === 0 ? true : undefined;
  };
  await waitFor('the end of killed processes', gone).catch(() => undefined);
}

async function find({ group, folder }: Whose): Promise<readonly Listed[]> {
  const living = await livingProcesses();
  const found = new Map<number, Listed>();
  for (const listed of living) {
    if (listed.group === group || (folder !== undefined && (await isIn(listed, folder)))) found.set(listed.pid, listed);
  }
  // A child may be listed before its parent, so until nothing is added any more.
  for (let size = -1; size < found.size;) {
    size = found.size;
    for (const listed of living) if (found.has(listed.parent)) found.set(listed.pid, listed);
  }
  found.delete(process.pid);
  return [...found.values()];
}

/** Every process of this machine that lives: a killed one that has not been reaped is a zombie, which is dead but still listed. */
export async function livingProcesses(): Promise<readonly Listed[]> {
  // A minimal Linux has no `ps`, and macOS has no `/proc`.
  return process.platform === 'linux' ? livingInProc() : livingByPs();
}

async function livingInProc(): Promise<readonly Listed[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    ids.map(async (id) => {
      const read = (file: string) => readFile(`/proc/${id}/${file}`, 'utf8').catch(() => '');
      const [stat, commandLine] = await Promise.all([read('stat'), read('cmdline')]);
      // The name of the program is in parentheses and may contain any character (proc_pid_stat(5)).
      const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const args = commandLine.replaceAll(/[\0\s]+/g, ' ').trim();
      return parseProcess(id, parent, group, state, args);
    }),
  );
  return found.flat();
}

async function livingByPs(): Promise<readonly Listed[]> {
  const columns = ['-eo', 'pid=,ppid=,pgid=,stat=,args='];
  const { stdout } = await promisify(execFile)('ps', columns, { maxBuffer: 10_000_000 });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, group, state, args] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return parseProcess(pid, parent, group, state, args);
  });
}

/** Returns nothing for a zombie, or for a process that ended while it was listed. */
function parseProcess(pid?: string, parent?: string, group?: string, state = 'Z', args = ''): readonly Listed[] {
  if (pid === undefined || parent === undefined || group === undefined || state.startsWith('Z')) return [];
  return [{ pid: Number(pid), parent: Number(parent), group: Number(group), args }];
}

async function isIn({ pid, args }: Listed, folder: string): Promise<boolean> {
  if (args.includes(folder)) return true;
  const [cwd, variables] = await Promise.all([
    readlink(`/proc/${pid}/cwd`).catch(() => ''),
    readFile(`/proc/${pid}/environ`, 'utf8').catch(() => ''),
  ]);
  return cwd.startsWith(folder) || variables.includes(`TMPDIR=${folder}`);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended since it was listed.
  }
}
