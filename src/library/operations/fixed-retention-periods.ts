import { dayMs, hourMs } from '../../platform/timing/milliseconds-per-unit.ts';

// These periods have no setting. `housekeeping` deletes the records after them, and docs/operations/growth.md lists them.

/** Long enough to investigate why a link did not work. */
export const oneTimeLinkRetentionMs = 7 * dayMs;
/** Attempts to sign in are counted over 15 minutes at most. */
export const signInTryRetentionMs = hourMs;
/** Records of attempts at creates are stored far longer than a repeated or uncertain create needs them. */
export const createAttemptRetentionMs = 7 * dayMs;
/**
 * Attempts at callbacks, and events that are about no task, are stored far longer than their delivery is
 * retried. A shorter retention of prompts applies to them, too.
 */
export const attemptAndEventRetentionMs = 90 * dayMs;
export const loggedRequestRetentionMs = 7 * dayMs;
/** The maximum number of rows in the request log: of one account, and of all accounts, which is about a gigabyte. */
export const maxLoggedRequestsOfAccount = 50_000;
export const maxLoggedRequests = 5_000_000;
