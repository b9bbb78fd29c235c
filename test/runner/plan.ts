import { dirname } from 'node:path';
import { type Tier, tierOf, tiers } from '../support/tier.ts';

// Which test files run, in which processes, in which order. Names of files are relative to `test`, such as `stores/tasks.test.js`.

/** Folders whose fast files each run in a process of their own. Other fast files share one, since starting a process takes longer than most of them. */
const separateFolders = ['run/cli', 'console', 'ops', 'production', 'runner', 'service', 'survival', 'workflows'];
const fastFilesPerProcess = 26;
const fastGroup = 'fast';

/** Folders whose full files share processes: one loads the service in three seconds, and then starts it in less than one. */
const sharingFolders = ['console', 'service', 'survival', 'run/cli', 'api', 'clients', 'counterparts'];
const fullFilesPerProcess = 5;

/** Folders whose tests drive real processes or a browser: the only ones whose files may run a second time. */
const processFolders = [
  'chaos',
  'clients',
  'console',
  'ops',
  'production',
  'run/cli',
  'run/embedded',
  'service',
  'survival',
];

/** Files that use the whole machine, or watch what it does under load, run when nothing else does. */
const exclusive =
  /^(?:chaos\/chaos\.|ops\/compose\/|ops\/kubernetes\/kubernetes|production\/|survival\/(?:outages|load\/overload)\.)/;

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
  const groupOf = (file: string) => (parts.length > 0 ? undefined : sharedGroupOf(file));
  const inGroup = (group: string | undefined) => selected.filter((file) => groupOf(file) === group);
  const alone = inGroup(undefined);
  const separate = (isFast: boolean) =>
    alone.filter((file) => !exclusive.test(file) && (tierOf(file) === 'fast') === isFast).map((file) => [file]);
  return {
    // The longest start first, so that no process runs alone at the end for long.
    processes: [
      ...sharingFolders.flatMap((folder) => inChunks(inGroup(folder), fullFilesPerProcess)),
      ...separate(false),
      ...inChunks(inGroup(fastGroup), fastFilesPerProcess),
      ...separate(true),
    ],
    exclusive: alone.filter((file) => exclusive.test(file)).map((file) => [file]),
  };
}

/** Files of one group may share processes; undefined for a file that has a process of its own. */
function sharedGroupOf(file: string): string | undefined {
  const tier = tierOf(file);
  if (tier === 'full') return folderAmong(sharingFolders, file);
  return tier === 'fast' && folderAmong(separateFolders, file) === undefined ? fastGroup : undefined;
}

/** True when a file that failed may run once more: never one of the fast tier, nor one about rules rather than processes. */
export function mayRunAgain(file: string): boolean {
  return tierOf(file) !== 'fast' && folderAmong(processFolders, file) !== undefined;
}

export function topFolder(file: string): string {
  return dirname(file).split('/')[0] ?? '.';
}

function folderAmong(folders: readonly string[], file: string): string | undefined {
  return folders.find((folder) => file.startsWith(`${folder}/`));
}

function inChunks(files: readonly string[], mostFiles: number): readonly (readonly string[])[] {
  const count = Math.ceil(files.length / mostFiles);
  return Array.from({ length: count }, (_, index) => files.filter((_file, position) => position % count === index));
}
