import { createSecretBox } from '../../platform/secrets/secret-box.ts';
import type { CompleteSettings } from '../config/complete-settings-and-derived-values.ts';
import type { PartName } from '../../platform/process/process-part-type.ts';
import type { Metrics } from '../metrics/create-metrics-registry.ts';
import type { Catalogue } from '../../catalogue/file/catalogue-schema-and-types.ts';
import { warnOfRemovedProvidersOrModels } from '../../catalogue/file/reload-warnings.ts';
import { createLiveCatalogue, type LiveCatalogueOptions } from '../../catalogue/file/live-catalogue.ts';
import { createDatabase } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log/log.ts';
import { type ConnectOptions, connectTemporal } from '../../temporal/connection/connect.ts';
import { currentTracing } from './monitoring/tracing.ts';

/** The dependencies that an API and a worker have in common. */
export type SharedDependencies = ReturnType<typeof openSharedDependencies>;

type Part = Pick<LiveCatalogueOptions, 'readSecret' | 'readHookSecret'> &
  Pick<ConnectOptions, 'retries'> & { readonly part: PartName };

/** Opens the catalogue, the database and Temporal. Connects lazily. */
export function openSharedDependencies(
  settings: CompleteSettings,
  log: Log,
  metrics: Metrics,
  { part, retries = true, ...secrets }: Part,
) {
  const { catalogueFile: path, publicUrl } = settings;
  const events = metrics.eventsOf(() => catalogue.current());
  const onReload = (before: Catalogue, after: Catalogue) =>
    void warnOfRemovedProvidersOrModels({ db, log }, before, after).catch((error: unknown) =>
      log.warn({ err: error }, 'reload not compared with running jobs'),
    );
  const catalogue = createLiveCatalogue({ path, publicUrl, ...secrets, log, part, events, onReload });
  const db = createDatabase({
    url: settings.databaseUrl,
    poolSize: settings.databasePoolSize,
    onIdleError: (error) => log.warn({ err: error }, 'database connection broke'),
  });
  metrics.databases.set(part, db.usage);
  const temporal = connectTemporal(settings.temporal, { retries, interceptors: currentTracing()?.client });
  // Encrypts the secrets of callbacks.
  const box = createSecretBox(settings.secret, settings.secretPrevious);
  const close = async () => {
    catalogue.close();
    await Promise.allSettled([temporal.close(), db.close()]);
  };
  return { settings, log, db, catalogue, events, box, temporal, close };
}
