import type { CapChange } from '../limits/spend-caps.ts';
import type { Dialect, Scope } from './scopes-dialects-and-caller.ts';

/** A key without its secret, which is not stored. Times are Unix milliseconds. */
export type ApiKey = {
  readonly keyId: string;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly Scope[];
  readonly dialect: Dialect;
  /** The models that it may use; undefined for all. */
  readonly models: readonly string[] | undefined;
  /** Identical creates by it within a minute are one task, for clients that repeat a create without an Idempotency-Key. */
  readonly mergeRepeats: boolean;
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
  readonly lastUsedAt: number | undefined;
  readonly revokedAt: number | undefined;
};

export type NewKey = Pick<ApiKey, 'name' | 'scopes'> & {
  readonly accountId: string;
  readonly expiresAt?: number | undefined;
  /** Native by default. */
  readonly dialect?: Dialect | undefined;
  readonly models?: readonly string[] | undefined;
  readonly mergeRepeats?: boolean | undefined;
  readonly caps?: CapChange | undefined;
  /** The subject of its caps: that of the key that it replaces, or a new one. */
  readonly spendSubject?: string | undefined;
};
