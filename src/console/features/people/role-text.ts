export const roleWords = { owner: 'Owner', member: 'Member', viewer: 'Viewer' } as const;

/** A tab that is older than the service shows the names of new roles as they are. */
export function roleWord(role: string): string {
  return new Map<string, string>(Object.entries(roleWords)).get(role) ?? role;
}
