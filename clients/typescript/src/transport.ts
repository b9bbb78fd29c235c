import type { Clock } from './clock.ts';
import type { VideogenError } from './videogen-error.ts';

/** A failed attempt, and the pause before the next one. */
export type Retry = { readonly error: VideogenError; readonly pauseMs: number };

/** Shared by every call of a client; created from its options. */
export type Transport = {
  /** Has no slash at the end. */
  readonly baseUrl: string;
  readonly key: string;
  readonly timeoutMs: number;
  readonly maxTries: number;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly onRetry: ((retry: Retry) => void) | undefined;
};

export type CallOptions = {
  /** Ends the call early; it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
};
