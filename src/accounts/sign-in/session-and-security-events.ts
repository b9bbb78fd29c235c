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

export const securityEventKinds = [
  'signed_in',
  'sign_in_failed',
  'signed_out',
  'reauthenticated',
  'password_changed',
  'session_ended',
  'link_made',
  'link_accepted',
  'link_withdrawn',
  'role_changed',
  'member_removed',
  'user_disabled',
  'user_enabled',
  'operator_changed',
  'passkey_added',
  'passkey_removed',
  'identity_linked',
  'account_renamed',
  'account_closed',
  'share_link_made',
  'share_link_revoked',
] as const;
export type SecurityEventKind = (typeof securityEventKinds)[number];
