import type { WorkerParts } from '../../../src/run/main/wire-activities.ts';
import { readConfig } from '../../../src/run/config/config.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { settingsWithNothingEmbedded } from '../../../src/run/config/complete-settings-and-derived-values.ts';
import { startWorker } from '../../../src/run/main/start-worker.ts';

// A worker process that kills itself with SIGKILL, so that not even a `finally` runs. Arguments: `before` or `after`, and
// the name of a statement, `put` or `inspectVideo`. For that one the store refuses the video, so it is staged for `storeResult`.
const [when, name] = process.argv.slice(2);
const settings = settingsWithNothingEmbedded(readConfig());
await startWorker(settings, createLog({ level: 'silent' }), dying, undefined, wrap);

function wrap(parts: WorkerParts): WorkerParts {
  const { db, videoTools, media } = parts;
  return {
    ...parts,
    db: { ...db, run: (statement, values) => around(statement.name, () => db.run(statement, values)) },
    media: {
      ...media,
      put: (key, path) => {
        if (name === 'inspectVideo' && key.startsWith('results/')) return Promise.reject(new Error('staged instead'));
        return around('put', () => media.put(key, path));
      },
    },
    videoTools: {
      ...videoTools,
      inspectVideo: (...args) => around('inspectVideo', () => videoTools.inspectVideo(...args)),
    },
  };
}

async function around<T>(called: string, work: () => Promise<T>): Promise<T> {
  if (called !== name) return work();
  if (when === 'before') die();
  const answer = await work();
  die();
  return answer;
}

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

function dying(error: unknown): never {
  throw error;
}
