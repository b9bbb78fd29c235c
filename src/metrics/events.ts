import type { HealthEvent } from './health-metrics.ts';
import type { ProviderMetricEvent } from './provider-metrics.ts';
import type { RequestEvent } from './request-metrics.ts';
import type { TaskEvent } from './task-metrics.ts';

export type ServiceEvent = TaskEvent | RequestEvent | ProviderMetricEvent | HealthEvent;

export type Events = { readonly emit: (event: ServiceEvent) => void };
