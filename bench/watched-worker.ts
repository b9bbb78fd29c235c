import { setTimeout as delay } from 'node:timers/promises';
import { readConfig } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { createMetrics } from '../src/metrics.ts';
import type { Provider } from '../src/providers/provider.ts';
import { externalSettings } from '../src/main/settings.ts';
import { fatalErrors, runUntilSignal } from '../src/main/run-until-signal.ts';
import { startWorker } from '../src/main/start-worker.ts';

// src/main/worker.ts with a provider that says over the channel when it is asked for a job, and when that begins and is done, and that
// holds a job whose prompt has the word `hold` in it until it is told to let it go. With BENCH_POSTER=none it keeps its posters to itself.

const held = new Map<string, () => void>();
process.on('message', (word) => {
  if (typeof word !== 'object' || word === null || !('release' in word)) return;
  held.get(String(word.release))?.();
});

const deliversPosters = process.env['BENCH_POSTER'] !== 'none';
const now = () => performance.timeOrigin + performance.now();

function watched(provider: Provider): Provider {
  return {
    ...provider,
    submit: (request, signal) => {
      process.send?.({ asked: request.taskId, at: now() });
      return provider.submit(request, signal);
    },
    follow: async (jobId, request, report, signal) => {
      const { taskId } = request;
      process.send?.({ began: taskId, at: now() });
      if (request.input.prompt.includes('hold')) {
        report(50);
        await Promise.race([new Promise<void>((resolve) => held.set(taskId, resolve)), aborted(signal)]);
        held.delete(taskId);
      }
      const video = await provider.follow(jobId, request, () => {}, signal);
      process.send?.({ done: taskId, at: now() });
      return deliversPosters ? video : { path: video.path };
    },
  };
}

/** Bounded by the deadline of the task. */
async function aborted(signal: AbortSignal): Promise<void> {
  await delay(2 ** 31 - 1, undefined, { signal }).catch(() => undefined);
}

const settings = externalSettings(readConfig());
const log = createLog({ level: settings.logLevel });
const fatal = fatalErrors();
const part = await startWorker(settings, log, fatal.reject, createMetrics(), (deps) => ({
  ...deps,
  providers: new Map([...deps.providers].map(([name, provider]) => [name, watched(provider)])),
}));
process.send?.('ready');
await runUntilSignal(part, fatal.promise, log);
