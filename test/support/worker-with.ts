import type { ActivityDeps } from '../../activities/deps.ts';
import { createLog } from '../../src/platform/log.ts';
import type { RunningPart, Settings } from '../../src/config/settings.ts';
import { startWorker } from '../../src/main/start-worker.ts';
import { type FakeCatalogue, modelsAt, providersOf } from './fake-providers.ts';
import type { FakeUpstream } from './fake-upstream.ts';
import { madeUpMeasures } from './tasks.ts';

/** The workers in this process, with a fake upstream instead of every provider. Nothing is measured. */
export async function startWorkerWith(
  settings: Settings,
  upstream: FakeUpstream,
  catalogue?: FakeCatalogue,
  adapt: (deps: ActivityDeps) => ActivityDeps = (deps) => deps,
): Promise<RunningPart> {
  const fail = (error: unknown) => {
    throw error;
  };
  const part = await startWorker(settings, createLog({ level: settings.logLevel }), fail, undefined, (deps) =>
    adapt(withUpstream(deps, upstream, catalogue)),
  );
  await part.running;
  return part;
}

export function withUpstream(deps: ActivityDeps, upstream: FakeUpstream, catalogue?: FakeCatalogue): ActivityDeps {
  return {
    ...deps,
    models: modelsAt([upstream.provider.name], { deadlineMs: 30 * 60_000, ...catalogue }),
    providers: providersOf([upstream.provider]),
    inspectVideo: () => Promise.resolve({ measured: madeUpMeasures, isPosterMade: true }),
    media: { ...deps.media, put: (key, path) => putIfThere(deps, key, path) },
  };
}

/** There is no poster, since nothing was measured. */
async function putIfThere(deps: ActivityDeps, key: string, path: string): Promise<void> {
  if (!key.endsWith('.jpg')) await deps.media.put(key, path);
}
