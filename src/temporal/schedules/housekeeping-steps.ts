/** The schedule `housekeeping` runs these one after the other. */
export const housekeepingSteps = [
  'sweepSlots',
  'deleteExpiredLinks',
  'deleteExpiredSessions',
  'deleteExpiredProofs',
  'deleteExpiredSignInTries',
  'deleteExpiredCreateAttempts',
  'deleteExpiredSecurityEvents',
  'deleteExpiredAccountEvents',
  'deleteExpiredUsers',
  'deleteExpiredRequests',
  'countUsage',
  'deleteExpiredContent',
  'deleteExpiredMedia',
  'deleteExpiredUploads',
  'sweepDeletions',
] as const;
export type HousekeepingStep = (typeof housekeepingSteps)[number];
