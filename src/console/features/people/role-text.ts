import { labelOrName } from '../../ui/controls/words-and-tones.ts';

export const roleWords = { owner: 'Owner', member: 'Member', viewer: 'Viewer' } as const;

export const roleWord = (role: string) => labelOrName(roleWords, role);
