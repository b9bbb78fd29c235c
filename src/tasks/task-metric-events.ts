import type { OrderDifference } from '../media/video/compare-with-order.ts';
import type { MetricEventSink } from '../platform/metrics/metric-event-sink.ts';
import type { ProviderEvent } from '../providers/provider-events.ts';
import type { EndedJob } from './jobs/job-ends.ts';
import type { MeasuredTaskStage } from '../catalogue/tasks/measured-task-stage.ts';
import type { Task } from '../catalogue/tasks/task.ts';

export const reconcileFindings = [
  'callback_owed',
  'workflow_left',
  'provider_job_left',
  'media_expired',
  'upload_expired',
  'ledger_violation',
  'failed',
] as const;

export const reconciledOutcomes = ['started', 'refunded'] as const;
const differenceOutcomes = ['failed', 'refunded', 'accepted', 'exceeded'] as const;
export const uncertainCreateOutcomes = ['none', 'refunded', 'answered', 'too_late'] as const;

/** What happens to tasks, their jobs and their callbacks. */
export type TaskEvent =
  | { readonly kind: 'task_charged'; readonly model: string; readonly credits: number }
  | { readonly kind: 'task_ended'; readonly task: Pick<Task, 'param' | 'state' | 'failure' | 'creditsRefunded'> }
  /** A video differed from its order. It was not delivered (`failed`), or delivered; `exceeded` means more than ordered. */
  | {
      readonly kind: 'order_difference';
      readonly model: string;
      readonly aspect: OrderDifference['aspect'];
      readonly outcome: (typeof differenceOutcomes)[number];
    }
  | { readonly kind: 'stage_ended'; readonly stage: MeasuredTaskStage; readonly durationMs: number }
  /**
   * A create returned 503: no task was found (`none`), or it was `refunded`, or had already succeeded (`too_late`), or is the answer to
   * another attempt at the create (`answered`).
   */
  | { readonly kind: 'uncertain_create_resolved'; readonly outcome: (typeof uncertainCreateOutcomes)[number] }
  /** `reconcile` ended or started a task that its workflow did not. */
  | { readonly kind: 'task_reconciled'; readonly outcome: (typeof reconciledOutcomes)[number] }
  /** `reconcile`, housekeeping or the audit found something else; `failed`: it could not be corrected, and the next run retries. */
  | { readonly kind: 'reconcile_finding'; readonly finding: (typeof reconcileFindings)[number] }
  | { readonly kind: 'job_ended'; readonly job: EndedJob }
  | { readonly kind: 'callback_attempted'; readonly status: number | undefined; readonly durationMs: number }
  | ProviderEvent;

export type TaskEventSink = MetricEventSink<TaskEvent>;
