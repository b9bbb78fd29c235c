/** Every string of the settings of an account. */
export const accountSettingsText = {
  lead: (name: string) => `General settings of ${name}, for all of its members.`,
  ownersOnly: 'Owners of this account manage its settings.',
  general: {
    title: 'General',
    name: 'Account name',
    nameHint: 'Shown to members in the console, and on statements.',
    id: 'Account ID',
    copyId: 'Copy the account ID',
    save: 'Save',
    saved: 'Name saved',
  },
  data: {
    title: 'Export',
    lead: 'One file with everything we store about the account: tasks with links to their videos, ledger, callbacks, keys without their secrets, members, invitations and security events. Each line is one JSON object.',
    action: 'Export data',
  },
  closing: {
    title: 'Danger zone',
    lead: 'Closes the account for good, for all of its members. Export the data first if you need it.',
    action: 'Close account',
    dialog: (name: string) => `Close ${name} for good?`,
  },
} as const;

/** The effects of closing an account, for owners and operators. */
export function ClosingEffects() {
  return (
    <>
      <p>
        <strong>Immediately:</strong> its keys are revoked, its members and invitations removed. Unfinished tasks are
        cancelled and refunded within minutes. Callbacks stop.
      </p>
      <p>
        <strong>Deleted:</strong> prompts, images, videos and callbacks of all its tasks, and the callback secret.
      </p>
      <p>
        <strong>Retained:</strong> the ledger, the audit log, the account’s ID and name, and the IDs, models, times,
        states and prices of its tasks. People keep their other accounts. This can’t be undone.
      </p>
    </>
  );
}
