import type { TaskDetail } from './contract.ts';

// Operations of operators that the service is about to have; each leaves this file once openapi.json names it.

export type AdminOverview = {
  readonly tasksByState: { readonly waiting: number; readonly queuing: number; readonly generating: number };
  /** How long the oldest task of each pool waits; null when none does. */
  readonly oldestWaits: readonly { readonly queue: string; readonly waiting: number; readonly oldestWaitMs: number }[];
  /** Of the last 24 hours. */
  readonly lastDay: {
    readonly created: number;
    readonly succeeded: number;
    readonly failed: readonly { readonly failCode: string; readonly tasks: number }[];
    readonly charged: number;
    readonly refunded: number;
  };
  readonly callbacks: { readonly owed: number; readonly failed: number };
  readonly books: {
    readonly auditedTime: number | null;
    readonly violations: number;
  };
};

/** With a link to the workflow, where an address of Temporal's pages is configured. */
export type TaskWithEngine = TaskDetail & { readonly temporalUrl?: string | null };

export type PlannedOpsReads = {
  readonly '/api/admin/v1/overview': { readonly query: object; readonly answer: AdminOverview };
  readonly '/api/admin/v1/tasks/show': {
    readonly query: { readonly taskId: string };
    readonly answer: TaskWithEngine;
  };
};
