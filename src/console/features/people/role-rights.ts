/** The rights of each role. They are apart from the names of roles, which are all that the first page of the console needs. */
export const roleRights = {
  owner: 'Full access, including keys and members',
  member: 'Creates tasks; can’t view keys, secrets, spend limits, settings or security events',
  viewer: 'Can view tasks and credits',
} as const;
