import type { LedgerViolation } from '../../../src/credits/ledger/audit-rules.ts';
import type { Outage } from '../faults/temporal-outage.ts';
import type { FullDisk } from '../faults/full-disks.ts';
import type { Film, ShortOrder } from '../faults/short-results.ts';
import type { BookedJob } from '../../fakes/upstream-books.ts';
import type { PaymentEvidence } from './payment-evidence.ts';

/** One answer to a create, or none: `status` is undefined when the connection broke or nothing came in time. */
export type CreateAnswer = {
  readonly status: number | undefined;
  readonly msg: string;
  readonly taskId: string | undefined;
  readonly creditsCharged: number | undefined;
  /** Which API answered, as an index, and when, in Unix milliseconds. */
  readonly api: number;
  readonly atMs: number;
};

/** One request of a client, with the responses to all its attempts. */
export type Wish = {
  /** The first word of the prompt, by which the task is found. */
  readonly nonce: string;
  readonly client: number;
  readonly hasKey: boolean;
  /** The expected price; undefined when the request breaks a rule. */
  readonly charge: number | undefined;
  /** The required end unless the task is stopped: `success`, or a failCode. */
  readonly end: string;
  /** Another end that is allowed because its upstream, or the network to it, fails all the time. */
  readonly otherEnd?: string | undefined;
  /** What its upstream makes, if it is another film than was ordered. */
  readonly shortOrder?: ShortOrder | undefined;
  readonly answers: readonly CreateAnswer[];
};

/** A task as the database has it in the end. */
export type FinalTask = {
  readonly taskId: string;
  readonly client: number;
  readonly nonce: string;
  readonly model: string;
  readonly state: string;
  readonly failCode: string | null;
  readonly creditsCharged: number;
  readonly creditsRefunded: number;
  readonly hasCallback: boolean;
  readonly createdAt: number;
  readonly generationStartedAt: number | null;
  /** The hash of its video; null unless it succeeded. */
  readonly sha256: string | null;
  readonly completedAt: number | null;
};

export type SeenCallback = {
  readonly taskId: string;
  readonly isSigned: boolean;
  /** True when the receiver answered with 2xx. */
  readonly isAccepted: boolean;
  /** The part that is equal in every attempt; links differ. */
  readonly content: string;
};

export type Damage = {
  /** The number of injections by kind. */
  readonly injected: ReadonlyMap<string, number>;
  /** Tasks whose workflow was cancelled, terminated or deleted, or was ordered to be. */
  readonly stopped: ReadonlySet<string>;
  readonly outages: readonly Outage[];
  readonly fullDisks: readonly FullDisk[];
  /** Faults that every run of this length must inject, and this one did not. */
  readonly missed: readonly string[];
};

/** A code that two accounts redeemed at the same time, and their responses. */
export type RedeemedCode = {
  readonly credits: number;
  /** The accounts that were answered 200. */
  readonly winners: readonly number[];
  /** The number of accounts that never got a response. */
  readonly unanswered: number;
};

/** What became of the processes of the service. */
export type ProcessEvidence = {
  /** Those of the service that ended although the breaker had not killed them. */
  readonly ended: readonly string[];
  /** Those that did not end with 0 after SIGTERM. */
  readonly unruly: readonly string[];
  /** What was left after everything had been stopped, one line each. */
  readonly left: readonly string[];
};

/** A video as it was measured. */
export type SeenVideo = Film & { readonly widthPx: number };

/** Everything that was seen from the outside. The checks read nothing else. */
export type Evidence = {
  readonly wishes: readonly Wish[];
  readonly tasks: readonly FinalTask[];
  readonly callbacks: readonly SeenCallback[];
  /** A task seen to go back, by a client that read it again and again. */
  readonly setbacks: readonly string[];
  /** For every successful task: its video, which was fetched, is the recorded one and plays; else what was wrong. */
  readonly videos: ReadonlyMap<string, SeenVideo | string>;
  readonly ledger: readonly LedgerViolation[];
  /** For every account: what it was opened with, and what it has now. */
  readonly balances: readonly { readonly accountId: string; readonly opened: number; readonly now: number }[];
  readonly codes: readonly RedeemedCode[];
  readonly payments: PaymentEvidence;
  /** The spend caps of all accounts, at the end. */
  readonly caps: readonly { readonly client: number; readonly credits: number; readonly spent: number }[];
  /** Every job of the upstreams of all kinds, by the name of the provider. */
  readonly kindJobs: ReadonlyMap<string, readonly BookedJob[]>;
  /** Jobs of failed tasks that may still run, by our own records. */
  readonly unsettledJobs: number;
  readonly damage: Omit<Damage, 'injected'>;
  readonly processes: ProcessEvidence;
  /** When each API was hurt, in Unix milliseconds. */
  readonly apisHurtAt: readonly (readonly number[])[];
};
