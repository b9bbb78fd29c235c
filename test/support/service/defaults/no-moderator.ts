import type { Moderator } from '../../../../src/providers/moderation/moderator.ts';

export const noModerator: Moderator = {
  checks: () => false,
  check: () => Promise.resolve({ kind: 'allowed' }),
  close: () => Promise.resolve(),
};
