import { readConfig } from '../src/run/config/config.ts';
import { createLog } from '../src/platform/log/log.ts';
import { createMetrics } from '../src/run/metrics/create-metrics-registry.ts';
import type { Provider } from '../src/providers/provider-contract.ts';
import type { ProviderWithTermsAndPoller, OpenProviders } from '../src/providers/open-providers.ts';
import { settingsWithNothingEmbedded } from '../src/run/config/complete-settings-and-derived-values.ts';
import { createFatalPromise, drainAndExitOnSignal } from '../src/run/main/run-until-signal.ts';
import { keepHeapsSmall } from '../src/run/main/run-worker.ts';
import { startWorker } from '../src/run/main/start-worker.ts';

// src/run/main/worker.ts with a provider that sends a message when a job is done.

function watched(provider: Provider): Provider {
  if (provider.runs === 'upstream') return provider;
  return {
    ...provider,
    run: async (request, report, to) => {
      const end = await provider.run(request, report, to);
      process.send?.({ done: request.taskId, at: performance.timeOrigin + performance.now() });
      return end;
    },
  };
}

function watchedProviders({ ofEntry, ofJob }: OpenProviders): OpenProviders {
  const watch = (open: ProviderWithTermsAndPoller | undefined) => open && { ...open, provider: watched(open.provider) };
  return { ofEntry: (entry) => watch(ofEntry(entry)), ofJob: (job) => watch(ofJob(job)) };
}

keepHeapsSmall();
const settings = settingsWithNothingEmbedded(readConfig());
const log = createLog({ level: settings.logLevel });
const fatal = createFatalPromise();
const part = await startWorker(settings, log, fatal.reject, createMetrics(), (parts) => ({
  ...parts,
  providers: { ...parts.providers, ...watchedProviders(parts.providers) },
}));
process.send?.('ready');
await drainAndExitOnSignal(part, fatal.promise, log);
