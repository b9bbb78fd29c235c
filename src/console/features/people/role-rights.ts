/** What each role may do. The first page of the console needs the names of roles alone, so they are in role-text.ts. */
export const roleRights = {
  owner: 'Full access, including keys and members',
  member: 'Creates tasks; can’t view keys, secrets, spend limits, settings or security events',
  viewer: 'Can view tasks and credits',
} as const;
