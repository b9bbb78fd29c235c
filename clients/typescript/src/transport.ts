import type { Clock } from './clock.ts';
import type { VideogenError } from './videogen-error.ts';

/** A failed attempt, and the pause before the next one. */
export type Retry = { readonly error: VideogenError; readonly pauseMs: number };

/** A successful response. */
export type ResponseInfo = {
  readonly path: string;
  /** Identifies the request in the log of the service. */
  readonly requestId: string | undefined;
};

/** The options of a client that each call can override. */
export type CallDefaults = {
  /** The time limit of one attempt, in milliseconds; by default 30 seconds. */
  readonly timeoutMs?: number | undefined;
  /** The number of attempts per call; by default 6, which outlasts a restart of the service. */
  readonly maxTries?: number | undefined;
  /** Called after each successful request with its request id. The id of a failed one is in its error. */
  readonly onResponse?: ((response: ResponseInfo) => void) | undefined;
  /** Called before each retry, for example to show why the program waits. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
};

export type CallOptions = CallDefaults & {
  /** Ends the call early; it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
};

/** Shared by every call of a client; created from its options. */
export type Transport = {
  /** Has no slash at the end. */
  readonly baseUrl: string;
  readonly key: string;
  readonly defaults: CallDefaults & { readonly timeoutMs: number; readonly maxTries: number };
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
};
