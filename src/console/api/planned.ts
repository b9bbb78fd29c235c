import type { Callback, Me } from './contract.ts';

// Operations that the service is about to have; each leaves this file once openapi.json names it.

export type Role = 'owner' | 'member' | 'viewer';

export type Session = {
  readonly sessionId: string;
  readonly isCurrent: boolean;
  readonly createTime: number;
  readonly lastUseTime: number;
  readonly expireTime: number;
  readonly address: string;
  readonly userAgent: string;
};

export type Member = {
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly joinTime: number;
  readonly lastUseTime: number | null;
  readonly isDisabled: boolean;
};

export type Invitation = {
  readonly linkId: string;
  readonly email: string;
  readonly role: Role;
  readonly expireTime: number;
};

export type SecurityEvent = {
  readonly eventId: number;
  readonly kind: string;
  readonly email: string | null;
  readonly userId: string | null;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly createTime: number;
};

export type Day = {
  readonly day: string;
  readonly model: string | null;
  readonly charged: number;
  readonly refunded: number;
  readonly granted: number;
  readonly tasks: number;
};

export type PlannedReads = {
  readonly '/api/console/v1/sessions': {
    readonly query: object;
    readonly answer: { readonly sessions: readonly Session[] };
  };
  readonly '/api/console/v1/members': {
    readonly query: object;
    readonly answer: { readonly members: readonly Member[]; readonly invitations: readonly Invitation[] };
  };
  readonly '/api/console/v1/events': {
    readonly query: { readonly cursor?: string; readonly limit?: number };
    readonly answer: { readonly events: readonly SecurityEvent[]; readonly nextCursor: string | null };
  };
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
  readonly '/api/console/v1/sessions/end': { readonly body: { readonly sessionId: string }; readonly answer: object };
  readonly '/api/console/v1/sessions/end-others': { readonly body: object; readonly answer: object };
  readonly '/api/console/v1/password': {
    readonly body: { readonly currentPassword: string; readonly newPassword: string };
    readonly answer: Me;
  };
  readonly '/api/console/v1/members/invite': {
    readonly body: { readonly email: string; readonly role: Role };
    readonly answer: { readonly linkId: string; readonly url: string; readonly expireTime: number };
  };
  readonly '/api/console/v1/members/role': {
    readonly body: { readonly userId: string; readonly role: Role };
    readonly answer: object;
  };
  readonly '/api/console/v1/members/remove': { readonly body: { readonly userId: string }; readonly answer: object };
  readonly '/api/console/v1/members/withdraw': { readonly body: { readonly linkId: string }; readonly answer: object };
  readonly '/api/v1/callbacks/redeliver-failed': {
    readonly body: { readonly since: number };
    readonly answer: { readonly callbacks: number };
  };
  readonly '/api/v1/callbacks/test': {
    readonly body: { readonly url: string };
    readonly answer: { readonly status: number | null };
  };
};
