import type { MetricEventSink } from '../../platform/metrics/metric-event-sink.ts';
import type { TaskEvent } from '../../tasks/task-metric-events.ts';
import type { HealthMetricEvent } from './health-metrics.ts';
import type { HttpExchangeMetricEvent } from './http-exchange-metrics.ts';

export type ServiceEvent = TaskEvent | HttpExchangeMetricEvent | HealthMetricEvent;
export type ServiceEvents = MetricEventSink<ServiceEvent>;
