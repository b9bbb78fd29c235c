import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { startApi } from '../../src/main/start-api.ts';
import { externalSettings } from '../../src/main/settings.ts';
import { fatalErrors, runUntilSignal } from '../../src/main/run-until-signal.ts';

// The breaker's API: src/main/api.ts with a catalogue that may name the provider of the breaker's fake paid upstream.
const settings = externalSettings(readConfig());
const log = createLog({ level: settings.logLevel });
await runUntilSignal(await startApi(settings, log), fatalErrors().promise, log);
