import type { ActivityDeps } from '../../activities/deps.ts';
import { createLog } from '../../src/log.ts';
import type { Role, Settings } from '../../src/roles/settings.ts';
import { startWorkerRole } from '../../src/roles/worker-role.ts';
import type { FakeUpstream } from './fake-upstream.ts';
import { madeUpMeasures } from './tasks.ts';

/** The workers in this process, with a fake upstream in the place of every provider and nothing measured. */
export async function startWorkerWith(settings: Settings, upstream: FakeUpstream): Promise<Role> {
  const fail = (error: unknown) => {
    throw error;
  };
  const role = await startWorkerRole(settings, createLog({ level: settings.logLevel }), fail, undefined, (deps) =>
    withUpstream(deps, upstream),
  );
  await role.running;
  return role;
}

/** What activities work with, with a fake upstream in the place of every provider and nothing measured. */
export function withUpstream(deps: ActivityDeps, upstream: FakeUpstream): ActivityDeps {
  return {
    ...deps,
    providers: new Map([[upstream.provider.name, upstream.provider]]),
    inspectVideo: () => Promise.resolve({ measured: madeUpMeasures, isPosterMade: true }),
    media: { ...deps.media, put: (key, path) => putIfThere(deps, key, path) },
  };
}

/** Nobody made a poster, since nothing was measured. */
async function putIfThere(deps: ActivityDeps, key: string, path: string): Promise<void> {
  if (!key.endsWith('.jpg')) await deps.media.put(key, path);
}
