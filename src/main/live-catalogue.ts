import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { builtInCatalogue, type CatalogueSource, readCatalogueFile } from '../catalogue-file.ts';
import type { Catalogue } from '../domain/catalogue/models.ts';
import { ConfigError } from '../domain/errors.ts';
import { createSharedPoll } from '../domain/shared-poll.ts';
import type { Log } from '../log.ts';

export type LiveCatalogue = {
  /** The catalogue in force: an object that does not change, replaced by another one. */
  readonly current: () => Catalogue;
  /** Why the file on disk is refused; none when it is not. */
  readonly faults: () => readonly string[];
  /** Looks for a change now. */
  check(): Promise<void>;
  close(): void;
};

export type LiveSource = Omit<CatalogueSource, 'path' | 'readText'> & {
  /** Undefined for the built-in catalogue, which never changes. */
  readonly path: string | undefined;
  readonly log: Pick<Log, 'info' | 'error'>;
  /** Called each time that the file was read. */
  readonly onRead?: (isRefused: boolean) => void;
};

const checkEveryMs = 5_000;

/**
 * The catalogue, read again when its file or one that it refers to has changed. A faulty file leaves the one before in force.
 * Throws a `ConfigError` when the file is faulty now.
 */
export function createLiveCatalogue(source: LiveSource): LiveCatalogue {
  const { path, log, onRead = () => {} } = source;
  if (path === undefined) {
    const catalogue = builtInCatalogue();
    onRead(false);
    return { current: () => catalogue, faults: () => [], check: async () => {}, close: () => {} };
  }

  /** What the last reading found, faulty or not: each file with its digest. */
  let seen = new Map<string, string>();
  const load = () => {
    const found = (seen = new Map<string, string>());
    const readText = (file: string) => {
      found.set(file, '');
      const text = readFileSync(file, 'utf8');
      found.set(file, digestOf(text));
      return text;
    };
    return readCatalogueFile({ ...source, path, readText });
  };

  let catalogue = load();
  onRead(false);
  let faults: readonly string[] = [];
  let changed = '';
  const checkFiles = async () => {
    const now = await digestsOf([...seen.keys()]);
    const isSame = now === JSON.stringify([...seen]);
    if (isSame && faults.length === 0) return;
    // A file may be half written, and its first half may be faultless: a change counts when two checks find the same.
    if (!isSame && now !== changed) {
      changed = now;
      return;
    }
    try {
      catalogue = load();
      faults = [];
      onRead(false);
      log.info({ path, models: [...catalogue.models.keys()] }, 'catalogue reloaded');
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const isTold = JSON.stringify(error.faults) === JSON.stringify(faults);
      faults = error.faults;
      onRead(true);
      if (!isTold) log.error({ path, faults }, 'changed catalogue refused, the one before stays in force');
    }
  };

  const onError = (error: unknown) => log.error({ err: error }, 'catalogue check failed');
  const checks = createSharedPoll({ everyMs: checkEveryMs, poll: checkFiles, onError });
  const close = checks.watch('this catalogue');
  return { current: () => catalogue, faults: () => faults, check: checks.run, close };
}

async function digestsOf(files: readonly string[]): Promise<string> {
  const read = files.map(async (file) => [file, await readFile(file, 'utf8').then(digestOf, () => '')] as const);
  return JSON.stringify(await Promise.all(read));
}

function digestOf(text: string): string {
  return hash('sha256', text);
}
