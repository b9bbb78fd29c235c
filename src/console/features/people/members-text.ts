/** Every string of the members of an account, for its owners. */
export const membersText = {
  lead: (account: string) => `Who can use ${account}, and what each person can do.`,
  nouns: ['member', 'members'],
  none: 'No members',
  you: 'You',
  disabled: 'disabled',
  columns: { email: 'E-mail', role: 'Role', seen: 'Last seen', joined: 'Joined' },
  invitations: 'Open invitations',
  roles: 'Roles',
  roleOf: (email: string) => `Role of ${email}`,
  lastOwner: 'An account needs at least one owner. Add another one first.',
  change: {
    title: (email: string) => `Change the role of ${email}?`,
    action: 'Change role',
    from: (before: string, after: string) => `${before} becomes ${after}`,
    self: 'This is you. You will be signed out on all other devices.',
    other: 'They will be signed out everywhere and have to sign in again.',
    done: 'Role changed',
  },
  remove: {
    button: 'Remove',
    named: (email: string) => `Remove ${email}`,
    title: (email: string) => `Remove ${email}?`,
    action: 'Remove member',
    effect: 'They lose access to this account immediately. API keys of the account keep working.',
    done: (email: string) => `${email} removed`,
  },
} as const;
