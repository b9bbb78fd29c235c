import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ActivityDeps } from '../../activities/deps.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { externalSettings } from '../../src/main/settings.ts';
import { fatalErrors, runUntilSignal } from '../../src/main/run-until-signal.ts';
import { startWorker } from '../../src/main/start-worker.ts';
import { createPaidProvider } from './paid-provider.ts';

// The breaker's worker: src/main/worker.ts with one provider more, that of the breaker's fake paid upstream.
const baseUrl = process.env['CHAOS_UPSTREAM'] ?? '';
const folder = await mkdtemp(join(process.env['CHAOS_FOLDER'] ?? tmpdir(), 'results-'));
const settings = externalSettings(readConfig());
const log = createLog({ level: settings.logLevel });
const fatal = fatalErrors();
const part = await startWorker(settings, log, fatal.reject, undefined, withPaidProvider);
await runUntilSignal(part, fatal.promise, log);

function withPaidProvider(deps: ActivityDeps): ActivityDeps {
  const paid = createPaidProvider({ baseUrl, folder });
  return { ...deps, providers: new Map([...deps.providers, [paid.name, paid]]) };
}
