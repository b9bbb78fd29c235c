import { readdir, readFile } from 'node:fs/promises';
import { cpus } from 'node:os';

/**
 * The processor time that was used so far, in milliseconds. Linux only, where a
 * tick is 10 ms.
 */
export type ProcessorTimes = {
  readonly at: number;
  /**
   * The time of everything on this machine, and the time that its host gave to
   * other machines. Interrupts are left out: our own traffic causes most of
   * them.
   */
  readonly machineMs: number;
  /**
   * Returns the time of a process, of its descendants, and of those of them
   * that have ended and were waited for.
   */
  readonly treeMs: (pid: number) => number;
};

type Process = { readonly pid: number; readonly parent: number; readonly ms: number };

export async function processorTimes(): Promise<ProcessorTimes> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const [machine, ...processes] = await Promise.all([readFile('/proc/stat', 'utf8'), ...pids.map(processOf)]);
  const children = new Map<number, Process[]>();
  const known = new Map<number, Process>();
  for (const process of processes) {
    if (process === undefined) continue;
    known.set(process.pid, process);
    children.set(process.parent, [...(children.get(process.parent) ?? []), process]);
  }
  const withDescendants = ({ pid, ms }: Process): number =>
    (children.get(pid) ?? []).reduce((sum, child) => sum + withDescendants(child), ms);
  const [user = 0, nice = 0, system = 0, _idle, _wait, _interrupts, _soft, stolen = 0] = numbersIn(
    machine.slice('cpu '.length, machine.indexOf('\n')),
  );
  return {
    at: performance.now(),
    machineMs: 10 * (user + nice + system + stolen),
    treeMs: (pid) => {
      const root = known.get(pid);
      return root === undefined ? 0 : withDescendants(root);
    },
  };
}

/** Returns undefined for a process that has just ended. */
async function processOf(pid: string): Promise<Process | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  // The name of the program comes first, in parentheses, and may contain
  // anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 4);
  const [parent = 0, ...rest] = numbersIn(fields);
  const ticks = rest.slice(9, 13).reduce((sum, each) => sum + each, 0);
  return { pid: Number(pid), parent, ms: 10 * ticks };
}

function numbersIn(text: string): readonly number[] {
  return text.trim().split(/\s+/).map(Number);
}

/**
 * Returns the share of the machine's cores that other programs used in the
 * meantime: everything except this bench and its children.
 */
export function shareOfOthers(before: ProcessorTimes, after: ProcessorTimes): number {
  const own = after.treeMs(process.pid) - before.treeMs(process.pid);
  const all = after.machineMs - before.machineMs;
  return Math.max(0, all - own) / ((after.at - before.at) * cpus().length);
}
