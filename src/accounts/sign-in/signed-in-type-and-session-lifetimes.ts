/** Lifetime of a session without use, and in total. Those of operators, who can grant credits, are short. */
export const idleAndAbsoluteSessionSeconds = {
  person: { idle: 12 * 3600, absolute: 7 * 24 * 3600 },
  operator: { idle: 3600, absolute: 12 * 3600 },
} as const;

/** An authentication counts as recent for this time. */
export const recentAuthenticationSeconds = 10 * 60;

/** A person with a session. Times are Unix milliseconds. */
export type SignedIn = {
  readonly sessionId: string;
  readonly userId: string;
  readonly email: string;
  readonly isOperator: boolean;
  readonly authenticatedAt: number;
  readonly isRecent: boolean;
  readonly expiresAt: number;
};
