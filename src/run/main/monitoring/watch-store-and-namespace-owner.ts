import pTimeout from 'p-timeout';
import type { CompleteSettings } from '../../config/complete-settings-and-derived-values.ts';
import {
  claimTemporalNamespaceOrFindProblem,
  claimStoresOrFindProblem,
  type OwnershipProblem,
} from '../../../media/store/store-and-namespace-ownership.ts';
import type { Database } from '../../../platform/database/database.ts';
import { SetupError } from '../../../platform/setup-errors-and-error-messages.ts';
import type { Log } from '../../../platform/log/log.ts';
import { startRepeating } from '../../../platform/timing/repeat.ts';

type WatchedInstallation = {
  readonly db: Database;
  readonly settings: CompleteSettings;
  readonly log: Log;
  /** A worker uses the namespace, an API accepts tasks without it. */
  readonly isWorker: boolean;
  readonly pauseMs?: number;
};

const checkLimitMs = 10_000;
const defaultPauseMs = 15_000;

/**
 * Checks whether stores and namespace are those of the installation. Throws `SetupError` if they are not at the start. Later, such as when the
 * volume of the store is unmounted, the process stops working until they are. An outage proves nothing, and keeps the last result.
 */
export async function claimAndWatchStoreAndNamespace({
  db,
  settings,
  log,
  isWorker,
  pauseMs = defaultPauseMs,
}: WatchedInstallation) {
  let isChecked = false;
  // An API that cannot reach the store yet accepts tasks, which survive its outage; a worker begins none before it has found its store.
  let problem = isWorker ? 'result store not checked yet' : undefined;
  const find = async (): Promise<OwnershipProblem | undefined> =>
    (await claimStoresOrFindProblem(db, settings)) ??
    (isWorker ? await claimTemporalNamespaceOrFindProblem(db, settings.temporal.namespace) : undefined);
  const check = async () => {
    const found = await pTimeout(find(), { milliseconds: checkLimitMs });
    if (found !== undefined && problem !== shown) log.error(found, 'settings of another installation; no work is done');
    if (found === undefined && problem === shown) log.info('settings are those of the installation again');
    problem = found && shown;
    isChecked = true;
    return found;
  };
  const tolerant = () =>
    check().catch((error: unknown) => {
      if (!isChecked) log.warn({ err: error }, 'result store not compared with the installation yet');
      return undefined;
    });
  const first = await tolerant();
  if (first !== undefined) throw new SetupError(`${first.reason}. ${first.remedy}`);
  return {
    /** Reasons not to work, without addresses; empty once the settings have proved to be those of the installation. */
    problems: (): readonly string[] => (problem === undefined ? [] : [problem]),
    ...startRepeating(pauseMs, async () => void (await tolerant())),
  };
}

/** Reasons are public, so names of stores are only logged. */
const shown = 'result store or Temporal namespace of another installation';
