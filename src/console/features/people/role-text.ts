import { labelOrName } from '../../ui/controls/badge.tsx';

export const roleWords = { owner: 'Owner', member: 'Member', viewer: 'Viewer' } as const;

export const roleWord = (role: string) => labelOrName(roleWords, role);
