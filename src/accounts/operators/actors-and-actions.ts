/** The owner of an operator's key, which opens `/api/admin/v1` only. */
export type OperatorKeyOwner = { readonly operatorId: string; readonly name: string };

/** An operator's key, an operator in the console, or a user of the machine at the command line. */
export type Actor =
  | (OperatorKeyOwner & { readonly kind: 'operator'; readonly requestId: string })
  | { readonly kind: 'user'; readonly userId: string; readonly name: string; readonly requestId: string }
  | { readonly kind: 'command_line'; readonly name: string };

/** The actions in the audit log, each with its text in the console. */
export const actionTexts = {
  'accounts.create': 'Created account',
  'accounts.sign_up': 'Opened account by sign-up',
  'accounts.suspend': 'Suspended account',
  'accounts.unsuspend': 'Lifted suspension',
  'accounts.limits': 'Changed limits',
  'accounts.rename': 'Renamed account',
  'accounts.close': 'Closed account',
  'accounts.view': 'Viewed account as its owner',
  'credits.grant': 'Granted credits',
  'credits.adjust': 'Adjusted balance',
  'codes.create': 'Created redemption codes',
  'codes.withdraw': 'Withdrew redemption codes',
  'prices.set': 'Set price',
  'prices.withdraw': 'Withdrew price',
  'keys.create': 'Created key',
  'keys.revoke': 'Revoked key',
  'caps.set': 'Set spend limits',
  'tasks.cancel': 'Cancelled task',
  'tasks.delete': 'Deleted task content',
  'tasks.retry': 'Retried waiting tasks',
  'callbacks.redeliver': 'Resent callback',
  'callback_secret.rotate': 'Rotated callback secret',
  'events.set': 'Set event endpoint',
  'events.remove': 'Removed event endpoint',
  'event_secret.rotate': 'Rotated event secret',
  'operators.create': 'Created operator key',
  'operators.revoke': 'Revoked operator key',
  'providers.set': 'Switched provider',
  'providers.test': 'Tested provider',
  'announcement.set': 'Set announcement',
  'announcement.remove': 'Removed announcement',
  'people.invite': 'Invited person',
  'people.withdraw': 'Revoked invitation',
  'people.reset': 'Created password reset link',
  'people.sign_up_link': 'Created sign-up link',
  'people.disable': 'Disabled person',
  'people.enable': 'Enabled person',
  'people.operator': 'Changed operator access',
  'people.end_sessions': 'Ended sessions',
  'people.erase': 'Erased person',
} as const;
export type OperatorAction = keyof typeof actionTexts;

// The type of Object.keys is wider than the keys.
export const operatorActions = Object.keys(actionTexts) as readonly OperatorAction[];
