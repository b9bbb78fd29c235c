import type { Clock } from './clock.ts';
import type { VideogenError } from './videogen-error.ts';

/** A try that failed with something passing, and how long the client waits before the next one. */
export type Retry = { readonly error: VideogenError; readonly pauseMs: number };

/** What every call needs; made once from the client's options. */
export type Transport = {
  /** Without a slash at the end. */
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
