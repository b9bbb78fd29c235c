import type { Logger } from 'pino';
import { type Brand, ownBrand } from '../brand/brand.ts';
import type { Dialect } from '../accounts/api-key.ts';
import type { EventType } from '../callbacks/event.ts';
import type { ReceiverError } from '../callbacks/receiver-error.ts';
import type { Catalogue } from '../models/catalogue/models.ts';
import type { CatalogueState } from '../models/live-catalogue.ts';
import type { DeliveryToStart, ProviderTest, TaskToStart } from '../tasks/ports.ts';
import type { Rate } from '../platform/rate-limit.ts';
import type { ParsedTaskRequest } from '../tasks/task-request.ts';
import type { RefuseUrl } from '../tasks/request-text.ts';
import type { Task } from '../tasks/task.ts';
import type { Owed } from '../tasks/task-event.ts';
import type { Upload } from '../media/upload.ts';
import type { ResultStore } from '../media/result-store.ts';
import type { Events } from '../metrics/events.ts';
import { type Moderator, noModerator } from '../moderation/moderator.ts';
import type { IdentityProvider } from '../people/identity-provider.ts';
import type { MailQueue } from '../mail/mail-queue.ts';
import type { SecretBox } from '../outbound/secrets.ts';
import { closedSignUp, type SignUpPolicy } from '../people/sign-up.ts';
import type { CreateOutcome, NewTask } from '../tasks/create-outcome.ts';
import type { PaymentProvider } from '../payments/contract.ts';
import type { Database } from '../platform/database/database.ts';
import { createTaskAcceptor } from '../tasks/task-acceptor.ts';
import { createKeyTouches } from '../accounts/key-touches.ts';
import { noRequestLog, type RequestLog } from '../requests/request-log.ts';
import { type BadKeys, createBadKeys, createRateLimiter, type RateLimiter } from './limits/rate-limits.ts';
import { createTaskWaiters, type TaskWaiters } from '../tasks/long-poll.ts';
import { createReadTasks, type ReadTasks } from '../tasks/read-tasks.ts';

export type ReceiveFile = (path: string) => Promise<void>;

/** `why` completes a sentence whose subject is the file. */
export type UploadOutcome =
  | { readonly kind: 'stored'; readonly upload: Upload; readonly expiresAt: number }
  | { readonly kind: 'too_many' }
  | { readonly kind: 'refused'; readonly why: string };

/** A cancelled task; a callback and an event may be owed for it. */
export type TaskToStop = Owed & { readonly taskId: string; readonly accountId: string };

export type ConsoleSettings = {
  /** The origin of the console; its sessions are refused on other origins and hosts. */
  readonly publicUrl: string;
  readonly passwordSignIn: boolean;
  readonly oidc?: IdentityProvider | undefined;
};

/** Ports to the rest of the process. Functions that return nothing work in the background and never throw. */
export type HttpPorts = {
  readonly db: Database;
  readonly log: Logger;
  /** Base URL of the service, without a trailing slash. */
  readonly publicUrl: string;
  readonly resultStore: ResultStore;
  readonly retentionMs: number;
  /** The catalogue in force: models, limits and providers. */
  readonly catalogue: () => Catalogue;
  readonly parseTaskRequest: (body: unknown) => ParsedTaskRequest;
  /**
   * Returns why a callback may not be sent to this URL; undefined if it may.
   */
  readonly refuseCallbackUrl: RefuseUrl;
  readonly startTask: (task: TaskToStart) => void;
  /** Stops the generation of a cancelled task, and starts its deliveries if it has no workflow. */
  readonly stopTask: (task: TaskToStop) => void;
  /** Ends the pause before the next attempt at a task. */
  readonly retryTask: (task: { readonly taskId: string }) => void;
  /** Tests a provider on a worker; bounded in time. */
  readonly testProvider: (provider: string) => Promise<ProviderTest>;
  readonly redeliver: (delivery: DeliveryToStart) => void;
  /** Refunds a task that may exist although its request failed. */
  readonly refundUncertain: (task: { readonly taskId: string; readonly accountId: string }) => void;
  /**
   * Checks an uploaded file and stores it. With `reuses`, a file that the
   * account has already stored with `reuses` is not stored again, and its
   * earlier upload is returned.
   */
  readonly storeUpload: (
    accountId: string,
    receive: ReceiveFile,
    options?: { readonly reuses?: boolean },
  ) => Promise<UploadOutcome>;
  /**
   * Posts a test callback, or a test event, about a task that does not exist.
   * Returns the receiver's status, or why it gave none.
   */
  readonly testCallback: (test: {
    readonly accountId: string;
    readonly url: string;
    readonly dialect: Dialect;
    readonly event?: EventType;
  }) => Promise<number | ReceiverError>;
  /** Encrypts the secrets of callbacks and events. */
  readonly box: SecretBox;
  readonly console: ConsoleSettings;
};

/** Dependencies with a default. */
export type HttpOptions = {
  /** Progress of a live task, 0 to 100; bounded in time, never rejects. */
  readonly progressOf: (task: Task) => Promise<number>;
  /** Returns which catalogue is in force, and since when. */
  readonly catalogueState: () => CatalogueState;
  /** False while the live workers cannot generate the model. */
  readonly isSold: (model: string) => boolean;
  readonly acceptCreate: (task: NewTask) => Promise<CreateOutcome>;
  /** The service as its customers see it. */
  readonly brand: Brand;
  /** Undefined while credits are not for sale. */
  readonly payments: PaymentProvider | undefined;
  /** Checks the content of creates before their charge. */
  readonly moderator: Moderator;
  readonly taskWaiters: TaskWaiters;
  readonly readTasks: ReadTasks;
  readonly keyTouches: ReturnType<typeof createKeyTouches>;
  readonly requestLog: RequestLog;
  /** True if lists of tasks can be searched by words of prompts. */
  readonly searchesPrompts: boolean;
  /** The rate of creates of accounts without a rate of their own. No rate means no limit, here and below. */
  readonly createRate: Rate | undefined;
  /**
   * Time until the content of a finished task is deleted; undefined if it is
   * never deleted.
   */
  readonly promptRetentionMs: number | undefined;
  /** Content endpoints redirect to signed links instead of sending the bytes. */
  readonly redirectsContent: boolean;
  /** Limits all other requests of an account or person. */
  readonly reads: RateLimiter | undefined;
  /** Limits refused creates of an account or person. */
  readonly refusedCreates: RateLimiter | undefined;
  /** Limits invalid API keys of an address. */
  readonly badKeys: BadKeys;
  /** Limits invalid redemption codes of a person. */
  readonly codeAttempts: RateLimiter;
  readonly providerTests: RateLimiter;
  /** Sign-up is off by default. */
  readonly signUp: SignUpPolicy;
  /** Undefined without a mail server: people send links by hand. */
  readonly mails: MailQueue | undefined;
  /** Limits the pages of share links that an address reads. */
  readonly sharePages: RateLimiter;
  /** Limits sign-ins of an address. */
  readonly signIns: RateLimiter;
  /** True for peers whose `X-Forwarded-For` is trusted. */
  readonly isTrustedProxy: (address: string) => boolean;
  /** Served at `/metrics`, to loopback clients only. */
  readonly metrics: { readonly contentType: string; metrics(): Promise<string> } | undefined;
  /** Counts events; never throws. */
  readonly events: Events;
  readonly isTraced: boolean;
  /** Other origins that the console loads media from. */
  readonly consoleMediaOrigins: readonly string[];
  readonly temporalUiUrl: string | undefined;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** The disk that cannot be written; undefined while all can. Returns immediately. */
  readonly diskProblem: () => string | undefined;
  /** Reasons for `/readyz` to fail; returns immediately. */
  readonly readiness: () => Promise<readonly string[]>;
};

export type HttpDeps = HttpPorts & HttpOptions;

/**
 * Allows for passkeys, whose sign-in takes two requests, and for the people of
 * an office, who share one address.
 */
const signInRate = { quota: 30, windowMs: 60_000 };
const sharePageRate = { quota: 60, windowMs: 60_000 };
const providerTestRate = { quota: 5, windowMs: 60_000 };
const codeRate = { quota: 10, windowMs: 60 * 60_000 };

/** Completes the dependencies of the HTTP layer; tests override any of them. */
export function createHttpDeps(given: HttpPorts & Partial<HttpOptions>): HttpDeps {
  const { db, log } = given;
  return {
    progressOf: () => Promise.resolve(0),
    catalogueState: () => ({ path: undefined, version: 'built-in', loadedAt: 0, refused: undefined }),
    isSold: () => true,
    acceptCreate: createTaskAcceptor(db),
    brand: ownBrand,
    payments: undefined,
    moderator: noModerator,
    taskWaiters: createTaskWaiters(db),
    readTasks: createReadTasks(db, log),
    keyTouches: createKeyTouches(db),
    requestLog: noRequestLog,
    searchesPrompts: true,
    createRate: undefined,
    promptRetentionMs: undefined,
    redirectsContent: false,
    reads: undefined,
    refusedCreates: undefined,
    badKeys: createBadKeys(undefined),
    codeAttempts: createRateLimiter(codeRate),
    providerTests: createRateLimiter(providerTestRate),
    signUp: closedSignUp,
    mails: undefined,
    sharePages: createRateLimiter(sharePageRate),
    signIns: createRateLimiter(signInRate),
    isTrustedProxy: () => false,
    metrics: undefined,
    events: { emit: () => {} },
    isTraced: false,
    consoleMediaOrigins: [],
    temporalUiUrl: undefined,
    now: Date.now,
    diskProblem: () => undefined,
    readiness: () => Promise.resolve([]),
    ...given,
  };
}
