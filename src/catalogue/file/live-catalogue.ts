import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { builtInCatalogue, type CatalogueReadOptions, readCatalogueOrThrow } from './read-catalogue-file.ts';
import type { Catalogue } from './catalogue-schema-and-types.ts';
import { ConfigError } from '../../platform/setup-errors-and-error-messages.ts';
import { createSharedPoll } from '../../platform/timing/shared-poll.ts';
import type { Log } from '../../platform/log/log.ts';
import type { MetricEventSink } from '../../platform/metrics/metric-event-sink.ts';
import type { PartName } from '../../platform/process/process-part-type.ts';

export type LiveCatalogue = {
  /** Returns the catalogue in force, which is immutable and replaced as a whole. */
  readonly current: () => Catalogue;
  readonly state: () => CatalogueLoadStatus;
  check(): Promise<void>;
  close(): void;
};

/** The origin of the catalogue in force. Times are Unix milliseconds. */
export type CatalogueLoadStatus = {
  /** Undefined for the built-in catalogue. */
  readonly path: string | undefined;
  /** A digest of the file and of those that it refers to. */
  readonly version: string;
  readonly loadedAt: number;
  /** The reload that was refused since then; undefined if the file on disk is in force. */
  readonly refused: { readonly at: number; readonly problems: readonly string[] } | undefined;
};

export type CatalogueReadEvent = {
  readonly kind: 'catalogue_read';
  readonly part: PartName;
  readonly isRefused: boolean;
};

export type LiveCatalogueOptions = Omit<CatalogueReadOptions, 'path' | 'readText'> & {
  /** Undefined for the built-in catalogue, which never changes. */
  readonly path: string | undefined;
  readonly log: Pick<Log, 'info' | 'error'>;
  readonly part: PartName;
  readonly events: MetricEventSink<CatalogueReadEvent>;
  /** Receives the catalogues before and after each reload. */
  readonly onReload?: (before: Catalogue, after: Catalogue) => void;
};

const checkEveryMs = 5_000;

/**
 * Reads the catalogue, and again when its file or one that it refers to has changed. While a changed file is invalid, the previous
 * catalogue stays in force. Throws a `ConfigError` if the file is invalid at the start.
 */
export function createLiveCatalogue(source: LiveCatalogueOptions): LiveCatalogue {
  const { path, log, part, events, onReload } = source;
  const onRead = (isRefused: boolean) => events.emit({ kind: 'catalogue_read', part, isRefused });
  if (path === undefined) return builtInOnly(onRead);

  /** The files of the last read, valid or not, with their digests. */
  let seen = new Map<string, string>();
  const load = () => {
    const found = (seen = new Map<string, string>());
    const readText = (file: string) => {
      found.set(file, '');
      const text = readFileSync(file, 'utf8');
      found.set(file, digestOf(text));
      return text;
    };
    return readCatalogueOrThrow({ ...source, path, readText });
  };

  const loaded = () => ({
    path,
    version: digestOf(JSON.stringify([...seen.values()])).slice(0, 12),
    loadedAt: Date.now(),
  });
  let catalogue = load();
  let inForce = loaded();
  let refusedAt = 0;
  onRead(false);
  let problems: readonly string[] = [];
  let changed = '';
  const checkFiles = async () => {
    const now = await digestsOf([...seen.keys()]);
    const isSame = now === JSON.stringify([...seen]);
    if (isSame && problems.length === 0) return;
    // A file may be half written, and its first half may be valid, so a change counts when two checks find the same. An invalid file is
    // read at every check, because its problem may be outside of it, such as a missing secret.
    if (!isSame && now !== changed) {
      changed = now;
      return;
    }
    try {
      const before = catalogue;
      catalogue = load();
      onReload?.(before, catalogue);
      inForce = loaded();
      problems = [];
      onRead(false);
      log.info({ path, models: [...catalogue.models.keys()] }, 'catalogue reloaded');
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const isLogged = JSON.stringify(error.problems) === JSON.stringify(problems);
      problems = error.problems;
      onRead(true);
      if (isLogged) return;
      refusedAt = Date.now();
      log.error({ path, problems }, 'catalogue change rejected; the previous catalogue stays in force');
    }
  };

  const onError = (error: unknown) => log.error({ err: error }, 'catalogue check failed');
  const checks = createSharedPoll({ everyMs: checkEveryMs, poll: checkFiles, onError });
  const close = checks.watch('this catalogue');
  const state = () => ({ ...inForce, refused: problems.length === 0 ? undefined : { at: refusedAt, problems } });
  return { current: () => catalogue, state, check: checks.run, close };
}

function builtInOnly(onRead: (isRefused: boolean) => void): LiveCatalogue {
  const catalogue = builtInCatalogue();
  onRead(false);
  const state = { path: undefined, version: 'built-in', loadedAt: Date.now(), refused: undefined };
  return {
    current: () => catalogue,
    state: () => state,
    check: async () => {},
    close: () => {},
  };
}

async function digestsOf(files: readonly string[]): Promise<string> {
  const read = files.map(async (file) => [file, await readFile(file, 'utf8').then(digestOf, () => '')] as const);
  return JSON.stringify(await Promise.all(read));
}

function digestOf(text: string): string {
  return hash('sha256', text);
}
