import type { Clock } from './clock.ts';

/** What every call needs; made once from the client's options. */
export type Transport = {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly key: string;
  readonly timeoutMs: number;
  readonly maxTries: number;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
};

export type CallOptions = {
  /** Ends the call early; it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
};
