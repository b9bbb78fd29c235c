import type { Callback } from './contract.ts';

// Operations that the service is about to have; each leaves this file once openapi.json names it.

export type Day = {
  readonly day: string;
  readonly model: string | null;
  readonly charged: number;
  readonly refunded: number;
  readonly granted: number;
  readonly tasks: number;
};

export type PlannedReads = {
  readonly '/api/v1/callbacks': {
    readonly query: { readonly state?: string; readonly cursor?: string; readonly limit?: number };
    readonly answer: { readonly callbacks: readonly NonNullable<Callback>[]; readonly nextCursor: string | null };
  };
  readonly '/api/v1/credits/daily': {
    readonly query: { readonly from?: string; readonly to?: string };
    readonly answer: { readonly days: readonly Day[] };
  };
  readonly '/api/v1/overview': {
    readonly query: object;
    readonly answer: {
      readonly balance: number;
      readonly days: readonly Day[];
      readonly tasksByState: Readonly<Record<string, number>>;
      readonly steps: { readonly hasKey: boolean; readonly hasTask: boolean; readonly hasCallback: boolean };
      readonly books: { readonly auditedTime: number | null; readonly violations: number };
    };
  };
};

export type PlannedSends = {
  readonly '/api/v1/callbacks/redeliver-failed': {
    readonly body: { readonly since: number };
    readonly answer: { readonly callbacks: number };
  };
  readonly '/api/v1/callbacks/test': {
    readonly body: { readonly url: string };
    readonly answer: { readonly status: number | null };
  };
};
