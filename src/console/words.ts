/**
 * A tab stays open while the service is upgraded, so it must show names that are newer than its code: as they are. The functions below
 * look words up; the tables serve lists of choices.
 */
function wordOf<Known>(words: Readonly<Record<string, Known>>, name: string, unknown: Known): Known {
  return words[name] ?? unknown;
}

export const ledgerWords = {
  grant: 'Grant',
  charge: 'Charge',
  refund: 'Refund',
  adjustment: 'Adjustment',
} as const;

export function ledgerWord(kind: string): string {
  return wordOf<string>(ledgerWords, kind, kind);
}

export const roleWords = {
  owner: { word: 'Owner', can: 'Everything, also keys and members' },
  member: { word: 'Member', can: 'Creates tasks, sees everything except keys' },
  viewer: { word: 'Viewer', can: 'Sees tasks and credits' },
} as const;

export type Role = keyof typeof roleWords;

export function roleWord(role: string): string {
  return wordOf<{ readonly word: string }>(roleWords, role, { word: role }).word;
}

export const scopeWords = {
  'tasks:write': 'Create and cancel tasks',
  'tasks:read': 'Read tasks and videos',
  'credits:read': 'Read balance and ledger',
  'callbacks:secret': 'Reveal and rotate the callback signing secret',
  'content:delete': 'Delete the content of tasks',
  'keys:write': 'Create and revoke keys',
} as const;
