/**
 * A tab stays open while the service is upgraded, so it must show names that are newer than its code: as they are. The functions below
 * look words up; the tables serve lists of choices.
 */
function wordOf<Known>(words: Readonly<Record<string, Known>>, name: string, unknown: Known): Known {
  return words[name] ?? unknown;
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
