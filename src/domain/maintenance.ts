/** `recent`: what changed since the last audit, and the violations that are known. */
export type AuditKind = 'recent' | 'full';

/** What the schedule `housekeeping` deletes, one step after the other. */
export const housekeepingSteps = [
  'sweepSlots',
  'deleteExpiredLinks',
  'deleteExpiredSessions',
  'deleteExpiredProofs',
  'deleteExpiredTries',
  'deleteExpiredEvents',
  'deleteExpiredUsers',
  'deleteExpiredContent',
  'deleteExpiredMedia',
  'deleteExpiredUploads',
  'sweepDeletions',
] as const;
export type HousekeepingStep = (typeof housekeepingSteps)[number];
