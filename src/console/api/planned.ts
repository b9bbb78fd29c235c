import type { Callback, LedgerEntry, TaskRecord } from './contract.ts';

// Operations that the service is about to have; each leaves this file once openapi.json names it.

export type Role = 'owner' | 'member' | 'viewer';

export type Me = {
  readonly user: { readonly userId: string; readonly email: string; readonly isOperator: boolean };
  readonly accounts: readonly { readonly accountId: string; readonly name: string; readonly role: Role }[];
  readonly session: { readonly sessionId: string; readonly authTime: number; readonly expireTime: number };
};

export type SignInOptions = {
  readonly passwordSignIn: boolean;
  readonly passkeys: boolean;
  readonly oidc: { readonly name: string } | null;
  readonly needsSetUp: boolean;
};

export type OneTimeLink = {
  readonly purpose: 'setup' | 'invite' | 'reset';
  readonly email: string | null;
  readonly accountName: string | null;
  readonly role: string | null;
  readonly expireTime: number;
};

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

export type Day = {
  readonly day: string;
  readonly model: string | null;
  readonly charged: number;
  readonly refunded: number;
  readonly granted: number;
  readonly tasks: number;
};

export type CreatedBy = { readonly kind: 'key' | 'person'; readonly id: string; readonly name: string };

export type Step = {
  readonly step: 'accepted' | 'waited' | 'generating' | 'stored' | 'succeeded' | 'failed' | 'refunded' | 'callback';
  readonly startTime: number;
  readonly endTime: number | null;
};

export type TaskTimeline = {
  readonly task: TaskRecord;
  readonly createdBy: CreatedBy | null;
  readonly posterUrl: string | null;
  readonly video: {
    readonly widthPx: number;
    readonly heightPx: number;
    readonly durationSeconds: number;
    readonly framesPerSecond: number;
    readonly hasAudio: boolean;
    readonly bytes: number;
  } | null;
  readonly mediaDeleteTime: number | null;
  readonly steps: readonly Step[];
  readonly ledger: readonly LedgerEntry[];
  readonly callback: Callback | null;
  readonly aheadOfOwn: number | null;
};

export type PlannedReads = {
  readonly '/api/console/v1/options': { readonly query: object; readonly answer: SignInOptions };
  readonly '/api/console/v1/me': { readonly query: object; readonly answer: Me };
  readonly '/api/console/v1/sessions': {
    readonly query: object;
    readonly answer: { readonly sessions: readonly Session[] };
  };
  readonly '/api/console/v1/members': {
    readonly query: object;
    readonly answer: { readonly members: readonly Member[]; readonly invitations: readonly Invitation[] };
  };
  readonly '/api/v1/jobs/timeline': { readonly query: { readonly taskId: string }; readonly answer: TaskTimeline };
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
  readonly '/api/console/v1/links/show': { readonly body: { readonly token: string }; readonly answer: OneTimeLink };
  readonly '/api/console/v1/links/accept': {
    readonly body: { readonly token: string; readonly email?: string; readonly password: string };
    readonly answer: Me;
  };
  readonly '/api/console/v1/sign-in': {
    readonly body: { readonly email: string; readonly password: string };
    readonly answer: Me;
  };
  readonly '/api/console/v1/sign-out': { readonly body: object; readonly answer: object };
  readonly '/api/console/v1/reauthenticate': { readonly body: { readonly password: string }; readonly answer: Me };
};
