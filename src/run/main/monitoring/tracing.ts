import type { Log } from '../../../platform/log/log.ts';
import type { CompleteSettings } from '../../config/complete-settings-and-derived-values.ts';
import type { DrainablePart } from '../run-until-signal.ts';
import type { TracingInterceptors } from './trace-export.ts';

let current: TracingInterceptors | undefined;

/**
 * Exports traces of this process if an OTLP endpoint is set, and loads OpenTelemetry only then. Call it before anything is traced, and
 * close it last.
 */
export async function startTracing(settings: Pick<CompleteSettings, 'isTracing'>, log: Log): Promise<DrainablePart> {
  if (!settings.isTracing) return { close: () => Promise.resolve() };
  const { exportTraces } = await import('./trace-export.ts');
  current = exportTraces(log);
  log.info('trace export started');
  return current;
}

export function currentTracing(): TracingInterceptors | undefined {
  return current;
}
