/** The hint of a reason that only operators read. Pages of accounts have it, too, so it is apart from the other texts of the log. */
export const auditReasonHint = 'Recorded in the audit log with your name.';
