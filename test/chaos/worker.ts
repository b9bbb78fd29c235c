import type { ActivityDeps } from '../../activities/deps.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { externalSettings } from '../../src/main/settings.ts';
import { fatalErrors, runUntilSignal } from '../../src/main/run-until-signal.ts';
import { startWorker } from '../../src/main/start-worker.ts';
import { providersOf } from '../support/fake-providers.ts';
import { createPaidProvider } from './paid-provider.ts';

// The breaker's worker: src/main/worker.ts with one provider more, that of the breaker's fake paid upstream.
const baseUrl = process.env['CHAOS_UPSTREAM'] ?? '';
const settings = externalSettings(readConfig());
const log = createLog({ level: settings.logLevel });
const fatal = fatalErrors();
const part = await startWorker(settings, log, fatal.reject, undefined, withPaidProvider);
await runUntilSignal(part, fatal.promise, log);

function withPaidProvider(deps: ActivityDeps): ActivityDeps {
  const paid = providersOf([createPaidProvider({ baseUrl })]);
  return {
    ...deps,
    // The catalogue may change, so what it says is asked for each time.
    get models() {
      return deps.models;
    },
    providers: {
      ofEntry: (entry) => paid.ofEntry(entry) ?? deps.providers.ofEntry(entry),
      ofJob: (job) => paid.ofJob(job) ?? deps.providers.ofJob(job),
    },
  };
}
