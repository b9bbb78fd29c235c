import { providerNames } from '../../src/domain/models.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { startApiRole } from '../../src/roles/api-role.ts';
import { externalSettings } from '../../src/roles/settings.ts';
import { fatalErrors, runUntilSignal } from '../../src/roles/run-until-signal.ts';
import { paidProviderName } from './paid-provider.ts';

// The breaker's API: src/api.ts with a catalogue that may name the provider of the breaker's fake paid upstream.
const settings = externalSettings(readConfig(process.env, [...providerNames, paidProviderName]));
const log = createLog({ level: settings.logLevel });
await runUntilSignal(await startApiRole(settings, log), fatalErrors().promise, log);
