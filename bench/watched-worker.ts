import { readConfig } from '../src/config/config.ts';
import { createLog } from '../src/platform/log.ts';
import { createMetrics } from '../src/metrics/metrics.ts';
import type { Provider } from '../src/providers/contract.ts';
import type { OpenProvider, Providers } from '../src/providers/registry.ts';
import { externalSettings } from '../src/config/settings.ts';
import { fatalErrors, runUntilSignal } from '../src/main/run-until-signal.ts';
import { keepHeapsSmall } from '../src/main/run-worker.ts';
import { startWorker } from '../src/main/start-worker.ts';

// src/main/worker.ts with a provider that sends a message when a job is
// requested and when it is done. With BENCH_POSTER=none the provider delivers
// no posters.

const deliversPosters = process.env['BENCH_POSTER'] !== 'none';
const now = () => performance.timeOrigin + performance.now();

function watched(provider: Provider): Provider {
  if (provider.runs === 'upstream') return provider;
  return {
    ...provider,
    run: async (request, report, to) => {
      const { taskId } = request;
      process.send?.({ asked: taskId, at: now() });
      const end = await provider.run(request, report, to);
      process.send?.({ done: taskId, at: now() });
      return end.kind === 'video' && !deliversPosters ? { ...end, video: { path: end.video.path } } : end;
    },
  };
}

function watchedProviders({ ofEntry, ofJob }: Providers): Providers {
  const watch = (open: OpenProvider | undefined) => open && { ...open, provider: watched(open.provider) };
  return { ofEntry: (entry) => watch(ofEntry(entry)), ofJob: (job) => watch(ofJob(job)) };
}

keepHeapsSmall();
const settings = externalSettings(readConfig());
const log = createLog({ level: settings.logLevel });
const fatal = fatalErrors();
const part = await startWorker(settings, log, fatal.reject, createMetrics(), (parts) => ({
  ...parts,
  providers: { ...parts.providers, ...watchedProviders(parts.providers) },
}));
process.send?.('ready');
await runUntilSignal(part, fatal.promise, log);
