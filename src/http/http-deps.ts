import type { Logger } from 'pino';
import type { Dialect } from '../domain/api-key.ts';
import type { Catalogue } from '../domain/catalogue/models.ts';
import type { ModelCatalogue } from '../domain/models.ts';
import type { Rate } from '../domain/rate-limit.ts';
import type { ParsedTaskRequest } from '../domain/task-request.ts';
import type { RefuseUrl } from '../domain/task-input.ts';
import type { Task } from '../domain/task.ts';
import type { ResultStore } from '../media/result-store.ts';
import type { Events } from '../metrics/counters.ts';
import type { IdentityProvider } from '../oidc/identity-provider.ts';
import type { Acceptance, NewTask } from '../stores/acceptance.ts';
import type { Database } from '../stores/database.ts';
import { type BadKeys, type RateLimiter } from './limits/rate-limits.ts';
import type { TaskWaiters } from './tasks/long-poll.ts';

/** `refused` says why, in words that continue the name of the image. */
export type UploadOutcome =
  | { readonly kind: 'kept'; readonly uploadId: string; readonly expiresAt: number }
  | { readonly kind: 'too_many' }
  | { readonly kind: 'refused'; readonly why: string };

/** A task that was cancelled; a callback may be owed for it. */
export type CancelledTask = { readonly taskId: string; readonly accountId: string; readonly hasCallback: boolean };

export type ConsoleSettings = {
  /** Where people open the console: other origins and hosts may not use its sessions. */
  readonly publicUrl: string;
  /** Whether people may sign in with a password. */
  readonly passwordSignIn: boolean;
  /** Where people may sign in instead. */
  readonly oidc?: IdentityProvider | undefined;
};

/** What the HTTP layer needs of the rest; the API's entry point provides it. */
export type HttpDeps = {
  readonly db: Database;
  readonly models: ModelCatalogue;
  /** What is in force; the models are its models. */
  readonly catalogue: Catalogue;
  /** Whether a task of this model may be accepted: not while live workers cannot generate it. */
  readonly isSold: (model: string) => boolean;
  readonly parseTaskRequest: (body: unknown) => ParsedTaskRequest;
  readonly resultStore: ResultStore;
  /** Base address of the service, without a slash at its end. */
  readonly publicUrl: string;
  /** Checks an uploaded image and keeps it. */
  readonly keepImage: (accountId: string, image: Buffer) => Promise<UploadOutcome>;
  /** How long media is kept. */
  /** Whether lists of tasks are searched for words of prompts; they are by default. */
  readonly searchesPrompts?: boolean;
  readonly retentionMs: number;
  /** Accepts and charges a task, or answers why not. */
  readonly acceptTask: (task: NewTask) => Promise<Acceptance>;
  /** Starts the workflow of an accepted task in the background; never waits and never throws. */
  readonly startTask: (task: { readonly taskId: string; readonly accountId: string; readonly model: string }) => void;
  /** Stops, in the background, what still runs for a task that was cancelled; never waits and never throws. */
  readonly stopTask: (task: CancelledTask) => void;
  /** Refunds, in the background, a task that may exist although its request was answered with an error; never throws. */
  readonly refundUncertain: (task: { readonly taskId: string; readonly accountId: string }) => void;
  /** Progress of a live task, 0 to 100; bounded in time, never rejects. */
  readonly progressOf: (task: Task) => Promise<number>;
  /** Has an owed callback sent now, in the background; never throws. */
  readonly redeliver: (delivery: { readonly taskId: string; readonly accountId: string }) => void;
  /** Posts a callback about a task that does not exist; answers the receiver's status, undefined when it cannot be reached. */
  readonly testCallback: (test: {
    readonly accountId: string;
    readonly url: string;
    readonly dialect: Dialect;
  }) => Promise<number | undefined>;
  /** Why a callback may not go to this address, as far as the address itself tells. */
  readonly refuseCallbackUrl: RefuseUrl;
  readonly callbackSecrets: {
    /** Shows the account's secret once; undefined when it was shown before. */
    reveal(accountId: string): Promise<string | undefined>;
    rotate(rotation: { readonly accountId: string; readonly overlapSeconds: number }): Promise<string>;
  };
  /** How fast an account may create tasks, unless it has a rate of its own; undefined is no limit. */
  readonly createRate: Rate | undefined;
  /** The rate of every other request of an account; undefined is no limit. */
  readonly reads: RateLimiter | undefined;
  /** How many creates of an account's keys, or of a person, may be refused before all are, for a while; undefined is no limit. */
  readonly refusedCreates: RateLimiter | undefined;
  readonly badKeys: BadKeys;
  /** Whether a peer's `X-Forwarded-For` is believed. */
  readonly isTrustedProxy: (address: string) => boolean;
  /** How often an address may try to sign in with a passkey, or set out for the identity provider. */
  readonly signIns: RateLimiter;
  /** Records, in the background, that a key was used; never throws. */
  readonly touchKey: (keyId: string) => void;
  readonly taskWaiters: TaskWaiters;
  readonly console: ConsoleSettings;
  readonly log: Logger;
  /** Shown at `/metrics`, to this machine alone; without it there is no such route. */
  readonly metrics?: { readonly contentType: string; metrics(): Promise<string> };
  /** What is counted; never throws. */
  readonly events: Events;
  /** Whether traces are exported. */
  readonly isTraced?: boolean;
  /** Other origins that media come from, for the console's page. */
  readonly consoleMediaOrigins?: readonly string[];
  /** Shown to browsers of this machine. */
  readonly temporalUiUrl?: string | undefined;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Why requests should not be sent to this process now, for `/readyz`; none when it is ready. Never waits for a check. */
  readonly readiness: () => Promise<readonly string[]>;
};
