import type { HealthMetricEvent } from './health-metrics.ts';
import type { ProviderMetricEvent } from './provider-metrics.ts';
import type { RequestMetricEvent } from './request-metrics.ts';
import type { TaskMetricEvent } from './task-metrics.ts';

export type ServiceEvent = TaskMetricEvent | RequestMetricEvent | ProviderMetricEvent | HealthMetricEvent;

export type Events = { readonly emit: (event: ServiceEvent) => void };
