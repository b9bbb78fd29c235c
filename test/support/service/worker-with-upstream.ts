import type { WorkerParts } from '../../../src/run/main/wire-activities.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import type { CompleteSettings } from '../../../src/run/config/complete-settings-and-derived-values.ts';
import type { DrainablePart } from '../../../src/run/main/run-until-signal.ts';
import { startWorker } from '../../../src/run/main/start-worker.ts';
import { type FakeCatalogue, modelsAt, providersOf } from '../tasks/fake-providers.ts';
import type { FakeUpstream } from '../tasks/fake-upstream.ts';
import { madeUpMeasures } from '../tasks/tasks.ts';

/** The workers in this process, with a fake upstream instead of every provider. Nothing is measured. */
export async function startWorkerWith(
  settings: CompleteSettings,
  upstream: FakeUpstream,
  catalogue?: FakeCatalogue,
  adapt: (parts: WorkerParts) => WorkerParts = (parts) => parts,
): Promise<DrainablePart> {
  const fail = (error: unknown) => {
    throw error;
  };
  const part = await startWorker(settings, createLog({ level: settings.logLevel }), fail, undefined, (parts) =>
    adapt(withUpstream(parts, upstream, catalogue)),
  );
  await part.running;
  return part;
}

export function withUpstream(parts: WorkerParts, upstream: FakeUpstream, catalogue?: FakeCatalogue): WorkerParts {
  return {
    ...parts,
    catalogue: {
      ...parts.catalogue,
      models: () => modelsAt([upstream.provider.name], { deadlineMs: 30 * 60_000, ...catalogue }),
    },
    providers: providersOf([upstream.provider]),
    videoTools: {
      ...parts.videoTools,
      inspectVideo: () => Promise.resolve({ measured: madeUpMeasures, isPosterMade: true }),
    },
    media: { ...parts.media, put: (key, path) => putIfThere(parts, key, path) },
  };
}

/** There is no poster, since nothing was measured. */
async function putIfThere({ media }: WorkerParts, key: string, path: string): Promise<void> {
  if (!key.endsWith('.jpg')) await media.put(key, path);
}
