import { dirname } from 'node:path';
import { type Tier, tierOf, tiers } from '../support/tier.ts';

// Which test files run, in which processes, in which order. Names of files are relative to `test`, such as `stores/tasks.test.js`.

/** Folders whose fast files each run in a process of their own. Other fast files share one, since starting a process takes longer than most of them. */
const separateFolders = ['cli', 'console', 'ops', 'production', 'runner', 'service', 'survival', 'workflows'];
const filesPerProcess = 12;

/** Folders whose tests drive real processes or a browser: the only ones whose files may run a second time. */
const processFolders = ['chaos', 'cli', 'clients', 'console', 'embedded', 'ops', 'production', 'service', 'survival'];

/** Files that use the whole machine, or watch what it does under load, run when nothing else does. */
const exclusive = /^(?:chaos\/chaos\.|production\/|survival\/(?:outages|overload)\.)/;

export type Plan = {
  /** Each is the files of one process. */
  readonly processes: readonly (readonly string[])[];
  /** One file each; they run last, one at a time. */
  readonly exclusive: readonly (readonly string[])[];
};

export type Selection = {
  readonly tier: Tier;
  /** Leaves out the files of the fast tier. */
  readonly withoutFast: boolean;
  /** Parts of file names; none selects all files. */
  readonly parts: readonly string[];
};

/** Parts of names select files of any tier, and each runs in a process of its own. */
export function planRun(files: readonly string[], { tier, withoutFast, parts }: Selection): Plan {
  const selected = files.filter((file) =>
    parts.length > 0
      ? parts.some((part) => file.includes(part))
      : tiers.indexOf(tierOf(file)) <= tiers.indexOf(tier) && !(withoutFast && tierOf(file) === 'fast'),
  );
  const isShared = (file: string) =>
    parts.length === 0 && tierOf(file) === 'fast' && !separateFolders.includes(topFolder(file));
  const single = selected.filter((file) => !isShared(file));
  return {
    // The ones that have a process of their own take longer and start first.
    processes: [
      ...single.filter((file) => !exclusive.test(file)).map((file) => [file]),
      ...inChunks(selected.filter(isShared)),
    ],
    exclusive: single.filter((file) => exclusive.test(file)).map((file) => [file]),
  };
}

/** True when a file that failed may run once more: never one of the fast tier, nor one about rules rather than processes. */
export function mayRunAgain(file: string): boolean {
  return tierOf(file) !== 'fast' && processFolders.includes(topFolder(file));
}

export function topFolder(file: string): string {
  return dirname(file).split('/')[0] ?? '.';
}

function inChunks(files: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(files.length / filesPerProcess);
  return Array.from({ length: count }, (_, index) => files.filter((_file, position) => position % count === index));
}
