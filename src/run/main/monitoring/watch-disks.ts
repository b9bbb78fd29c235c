import pTimeout from 'p-timeout';
import type { CompleteSettings } from '../../config/complete-settings-and-derived-values.ts';
import type { ServiceEvents } from '../../metrics/service-event.ts';
import type { PartName } from '../../../platform/process/process-part-type.ts';
import { type DiskState, diskProblemOfCode, readDisk } from '../../../platform/process/disk.ts';
import type { Log } from '../../../platform/log/log.ts';
import { startRepeating } from '../../../platform/timing/repeat.ts';

// While a disk that this process writes to is full, the process accepts no tasks and begins no work, and finishes what is under way. It
// continues without a restart.

type WatchedDisks = {
  readonly part: PartName;
  /** Paths by name. */
  readonly folders: Readonly<Record<string, string>>;
  readonly events: ServiceEvents;
  readonly log: Log;
  readonly pauseMs: number;
};

/** A network disk may hang. */
const checkLimitMs = 3_000;

/** The folders that a process with these settings writes to. */
export function writtenFoldersOf(
  settings: Pick<CompleteSettings, 'workFolder' | 'resultStore' | 'resultStoreAlso' | 'embeddedFolders'>,
): Readonly<Record<string, string>> {
  const { workFolder, resultStore, resultStoreAlso, embeddedFolders } = settings;
  return {
    ...embeddedFolders,
    'work folder': workFolder,
    ...(resultStore.kind === 'folder' && { 'result store': resultStore.path }),
    ...(resultStoreAlso?.kind === 'folder' && { 'second result store': resultStoreAlso.path }),
  };
}

/** Checks the disks of these folders, and the log, periodically. Resolves after the first check. */
export async function watchDisks({ part, folders, events, log, pauseMs }: WatchedDisks) {
  let problems: readonly string[] = [];
  const checkLog = watchLog(log, events);
  const check = async () => {
    const named = Object.entries(folders).map(async ([folder, path]) => [folder, await stateOf(path)] as const);
    const states = await Promise.all(named);
    for (const [folder, state] of states) {
      if (typeof state === 'object')
        events.emit({ kind: 'disk_checked', folder, ...state, isWritable: state.problem === undefined });
    }
    const found = [...problemsOf(states), ...checkLog()];
    const [now, before] = [found.join(), problems.join()];
    if (found.length > 0 && now !== before) log.warn({ part, problems: found }, 'disk unusable; no work is accepted');
    if (found.length === 0 && before !== '') log.info({ part, after: problems }, 'disk usable again');
    problems = found;
  };
  await check();
  return {
    /** Reasons not to accept work, with the names of folders and without their paths; empty while all disks accept writes. */
    problems: () => problems,
    ...startRepeating(pauseMs, check),
  };
}

/** Returns a text for a disk that does not respond. A folder that does not exist yet has no state. */
function stateOf(path: string): Promise<DiskState | string | undefined> {
  return pTimeout(readDisk(path), { milliseconds: checkLimitMs }).catch(() => 'disk unavailable');
}

/** One reason for each disk, with the names of its folders. */
function problemsOf(states: readonly (readonly [string, DiskState | string | undefined])[]): readonly string[] {
  const folders = new Map<string, string[]>();
  for (const [folder, state] of states) {
    const problem = typeof state === 'string' ? state : state?.problem;
    if (problem === undefined) continue;
    const key = typeof state === 'string' ? `${problem} ${folder}` : `${problem} ${state?.device}`;
    folders.set(key, [...(folders.get(key) ?? [`${problem}: `]), folder]);
  }
  return [...folders.values()].map(([problem, ...names]) => `${problem}${names.join(', ')}`);
}

/** Counts dropped lines. The line about them also tries whether the log can be written again. */
function watchLog(log: Log, events: ServiceEvents): () => readonly string[] {
  let lines = 0;
  return () => {
    const { output } = log;
    if (output === undefined) return [];
    const dropped = output.takeDropped();
    lines += dropped;
    if (dropped > 0) events.emit({ kind: 'log_lines_dropped', lines: dropped });
    const failure = output.failure();
    if (failure === undefined && dropped === 0) lines = 0;
    else log.warn({ lines, code: failure }, 'log lines dropped');
    const problem = diskProblemOfCode(failure);
    return problem === undefined ? [] : [`${problem}: log`];
  };
}
