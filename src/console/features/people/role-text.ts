/** The roles of members, and their permissions. */
export const roleWords = {
  owner: { word: 'Owner', can: 'Full access, including keys and members' },
  member: { word: 'Member', can: 'Creates tasks; can view everything except keys' },
  viewer: { word: 'Viewer', can: 'Can view tasks and credits' },
} as const;

/** A tab that is older than the service shows the names of new roles as they are. */
export function roleWord(role: string): string {
  return new Map<string, { word: string }>(Object.entries(roleWords)).get(role)?.word ?? role;
}
