import { z } from 'zod';
import type { ProviderTestReport } from '../providers/provider-test-outcome.ts';

export type TaskToStart = { readonly taskId: string; readonly accountId: string; readonly model: string };

/** The id of a task's callback is that of the task. */
export type DeliveryToStart = { readonly deliveryId: string; readonly accountId: string };

/** Status of a task's workflow; `missing` was never started, or was deleted. */
export type WorkflowStatus = 'running' | 'missing' | 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed_out';

/** Our code failed at a workflow's last step, and has not continued since. Times are Unix milliseconds of Temporal's clock. */
export type CodeFailure = {
  /** When it failed first. */
  readonly since: number;
  /** When the current attempt began; undefined without one. */
  readonly retriedAt: number | undefined;
  readonly message: string;
};

export type WorkflowDescription = {
  readonly status: WorkflowStatus;
  /** Undefined also for a busy or absent worker. */
  readonly codeFailure: CodeFailure | undefined;
  /** Types of the activities that are scheduled or running. */
  readonly pendingActivities: readonly string[];
};

/** Every call to Temporal is idempotent, and fails after a few seconds when Temporal is unavailable. */
export type WorkflowEngine = {
  /** Starts the task's workflow. Returns false if one exists already, also one that has ended. */
  readonly startTask: (task: TaskToStart) => Promise<boolean>;
  readonly describeTask: (taskId: string) => Promise<WorkflowDescription>;
  /**
   * Cancels the task's workflow, which stops its generation. Callers refund the task first. Returns false when the workflow has ended or
   * was never started.
   */
  readonly cancelWorkflow: (taskId: string) => Promise<boolean>;
  /**
   * Ends the pause before the next attempt at a step of the task. Returns whether there was one. An attempt that runs is left alone, and
   * continues the job that an earlier one has made.
   */
  readonly retryNow: (taskId: string) => Promise<boolean>;
  /** Tests a provider on a worker, with a request that costs nothing. Rejects if no worker runs it in time. */
  readonly testProvider: (provider: string) => Promise<ProviderTestReport>;
  /** Ends a workflow that cannot end on its own; harmless when it has ended. */
  readonly terminateTask: (taskId: string, reason: string) => Promise<void>;
  /** Deletes the histories of a final task, its callback and its event. Returns false while the task's workflow still runs. */
  readonly deleteTaskHistories: (taskId: string) => Promise<boolean>;
  /** Starts the workflow that empties a closed account, unless it is running. */
  readonly startClosing: (accountId: string) => Promise<void>;
  /** Starts the delivery of a callback or event, unless one is running; one that has ended begins again. */
  readonly startDelivery: (delivery: DeliveryToStart) => Promise<void>;
  /** Sends an overdue callback or event: like `startDelivery`, but a running delivery that is in a pause sends immediately. */
  readonly wakeDelivery: (delivery: DeliveryToStart) => Promise<void>;
  /** Sends a callback or an event now: its running workflow restarts the schedule, or a new one starts. */
  readonly redeliver: (delivery: DeliveryToStart) => Promise<void>;
};

/** The heartbeat of `generateVideo`; the API reads it as the progress of the task, 0 to 100. */
export const generationHeartbeatSchema = z.object({ progress: z.number() });
