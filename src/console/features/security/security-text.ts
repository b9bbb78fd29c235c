import { minPasswordLength } from '../../../people/user.ts';
import type { SecurityEvent } from '../../api/contract.ts';

/** Every string of a person's own security settings, and of security events. */
export const securityText = {
  title: 'Profile and security',
  lead: (email: string) => `You are signed in as ${email}.`,
  password: {
    title: 'Password',
    current: 'Current password',
    new: 'New password',
    hint: `At least ${minPasswordLength} characters of any kind. You will be signed out on all other devices.`,
    action: 'Change password',
    changed: 'Password changed',
  },
  passkeys: {
    title: 'Passkeys',
    caption: 'Your passkeys',
    nouns: ['passkey', 'passkeys'],
    add: 'Add passkey',
    addTitle: 'Add a passkey',
    continue: 'Continue',
    cancel: 'Cancel',
    lead: 'Your device prompts you to unlock it, for example with a fingerprint.',
    name: 'Name',
    nameHint: 'Shown in your list of passkeys.',
    added: 'Passkey added',
    none: 'No passkeys yet',
    why: 'Sign in with the lock of your device. There is no password to guess, phish or leak.',
    columns: { name: 'Name', added: 'Added', used: 'Last used', actions: 'Actions' },
    never: 'Never',
    remove: 'Remove',
    removeNamed: (name: string) => `Remove ${name}`,
    removeTitle: (name: string) => `Remove ${name}?`,
    removeAction: 'Remove passkey',
    removeLead: 'You can no longer sign in with it. Remove it from your device, too.',
    removed: 'Passkey removed',
  },
  sessions: {
    title: 'Sessions',
    caption: 'Where you are signed in',
    nouns: ['session', 'sessions'],
    columns: {
      browser: 'Browser',
      address: 'Address',
      signedIn: 'Signed in',
      used: 'Last used',
      expires: 'Expires',
      actions: 'Actions',
    },
    unknown: 'Unknown',
    current: 'This device',
    none: 'No sessions',
    end: 'Sign out',
    endNamed: (device: string) => `Sign out ${device}`,
    ended: 'Session ended',
    endOthers: 'Sign out all others',
    othersEnded: 'All other sessions ended',
  },
  events: {
    title: 'Security events',
    caption: 'Security events, newest first',
    nouns: ['event', 'events'],
    none: 'No events yet',
    columns: { event: 'Event', person: 'Person', from: 'From', time: 'Time' },
    byActor: (email: string, actor: string) => `${email}, by ${actor}`,
  },
} as const;

const events: Readonly<Record<SecurityEvent['kind'], string>> = {
  signed_in: 'Signed in',
  sign_in_failed: 'Sign-in failed',
  signed_out: 'Signed out',
  reauthenticated: 'Re-authenticated',
  password_changed: 'Password changed',
  session_ended: 'Session ended',
  link_made: 'Link created',
  link_accepted: 'Link accepted',
  link_withdrawn: 'Invitation revoked',
  role_changed: 'Role changed',
  member_removed: 'Removed from the account',
  user_disabled: 'Disabled',
  user_enabled: 'Enabled',
  operator_changed: 'Operator access changed',
  passkey_added: 'Passkey added',
  passkey_removed: 'Passkey removed',
  identity_linked: 'Linked to single sign-on',
  account_closed: 'Account closed',
  share_link_made: 'Share link created',
  share_link_revoked: 'Share link revoked',
};

/** An open tab may read events that are newer than its code: it shows their names. */
export function eventLabel(kind: string): string {
  return new Map<string, string>(Object.entries(events)).get(kind) ?? kind;
}
