import type { Log } from '../../../platform/log/log.ts';
import type { Drainable, Settings } from '../../config/settings-and-derived-values.ts';
import type { Tracing } from './trace-export.ts';

let current: Tracing | undefined;

/**
 * Exports traces of this process if an OTLP endpoint is set, and loads OpenTelemetry only then. Call it before anything is traced, and
 * close it last.
 */
export async function startTracing(settings: Pick<Settings, 'isTracing'>, log: Log): Promise<Drainable> {
  if (!settings.isTracing) return { close: () => Promise.resolve() };
  const { exportTraces } = await import('./trace-export.ts');
  current = exportTraces(log);
  log.info('trace export started');
  return current;
}

export function currentTracing(): Tracing | undefined {
  return current;
}
