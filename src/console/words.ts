import type { SecurityEvent } from './api/contract.ts';

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

export const scopeWords = {
  'tasks:write': 'Create and cancel tasks',
  'tasks:read': 'Read tasks and videos',
  'credits:read': 'Read balance and ledger',
  'callbacks:secret': 'Reveal and rotate the callback signing secret',
  'content:delete': 'Delete the content of tasks',
  'keys:write': 'Create and revoke keys',
} as const;

export const eventWords: Readonly<Record<SecurityEvent['kind'], string>> = {
  signed_in: 'Signed in',
  sign_in_failed: 'Sign-in failed',
  signed_out: 'Signed out',
  reauthenticated: 'Confirmed who they are',
  password_changed: 'Password changed',
  session_ended: 'Session ended',
  link_made: 'Link made',
  link_accepted: 'Link accepted',
  link_withdrawn: 'Invitation withdrawn',
  role_changed: 'Role changed',
  member_removed: 'Removed from the account',
  user_disabled: 'Disabled',
  user_enabled: 'Enabled again',
  operator_changed: 'Operator’s rights changed',
  passkey_added: 'Passkey added',
  passkey_removed: 'Passkey removed',
  identity_linked: 'Linked to single sign-on',
  account_closed: 'Account closed',
};

export function eventWord(kind: string): string {
  return wordOf<string>(eventWords, kind, kind);
}
