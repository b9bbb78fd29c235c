import type { TaskDetail } from './contract.ts';
import type { Role } from './planned.ts';

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

export type Person = {
  readonly userId: string;
  readonly email: string;
  readonly isOperator: boolean;
  readonly isDisabled: boolean;
  readonly createTime: number;
  readonly lastSignInTime: number | null;
  readonly accounts: readonly { readonly accountId: string; readonly name: string; readonly role: Role }[];
};

export type NewLink = { readonly linkId: string; readonly url: string; readonly expireTime: number };

export type SecurityEvent = {
  readonly eventId: number;
  readonly kind: string;
  readonly userId: string | null;
  readonly email: string | null;
  readonly accountId: string | null;
  /** Who did it, where that was somebody else. */
  readonly actor: string | null;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly createTime: number;
};

export type PlannedOpsReads = {
  readonly '/api/admin/v1/overview': { readonly query: object; readonly answer: AdminOverview };
  readonly '/api/admin/v1/tasks/show': {
    readonly query: { readonly taskId: string };
    readonly answer: TaskWithEngine;
  };
  readonly '/api/admin/v1/people': {
    readonly query: {
      readonly search?: string | undefined;
      readonly accountId?: string | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: { readonly people: readonly Person[]; readonly nextCursor: string | null };
  };
  readonly '/api/admin/v1/people/events': {
    readonly query: { readonly cursor?: string | undefined; readonly limit?: number | undefined };
    readonly answer: { readonly events: readonly SecurityEvent[]; readonly nextCursor: string | null };
  };
};

export type PlannedOpsSends = {
  readonly '/api/admin/v1/people/invite': {
    readonly body: {
      readonly email: string;
      readonly isOperator?: boolean;
      readonly accountId?: string;
      readonly role?: Role;
    };
    readonly answer: NewLink;
  };
  readonly '/api/admin/v1/people/reset': { readonly body: { readonly userId: string }; readonly answer: NewLink };
  readonly '/api/admin/v1/people/disable': {
    readonly body: { readonly userId: string };
    readonly answer: { readonly userId: string };
  };
  readonly '/api/admin/v1/people/enable': {
    readonly body: { readonly userId: string };
    readonly answer: { readonly userId: string };
  };
  readonly '/api/admin/v1/people/end-sessions': {
    readonly body: { readonly userId: string };
    readonly answer: { readonly userId: string };
  };
  readonly '/api/admin/v1/people/operator': {
    readonly body: { readonly userId: string; readonly isOperator: boolean };
    readonly answer: { readonly userId: string };
  };
};
