import type { Emits } from '../../platform/metrics/emits.ts';
import type { TaskEvent } from '../../tasks/task-metric-events.ts';
import type { HealthMetricEvent } from './health-metrics.ts';
import type { RequestMetricEvent } from './request-metrics.ts';

export type ServiceEvent = TaskEvent | RequestMetricEvent | HealthMetricEvent;
export type ServiceEvents = Emits<ServiceEvent>;
