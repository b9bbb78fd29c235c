/** The owner of an operator's key, which opens `/api/admin/v1` only. */
export type Operator = { readonly operatorId: string; readonly name: string };

/** An operator's key, an operator in the console, or a user of the machine at the command line. */
export type Actor =
  | (Operator & { readonly kind: 'operator'; readonly requestId: string })
  | { readonly kind: 'user'; readonly userId: string; readonly name: string; readonly requestId: string }
  | { readonly kind: 'command_line'; readonly name: string };

/** The actions in the audit log. */
export const operatorActions = [
  'accounts.create',
  'accounts.sign_up',
  'accounts.suspend',
  'accounts.unsuspend',
  'accounts.limits',
  'accounts.rename',
  'accounts.close',
  'accounts.view',
  'credits.grant',
  'credits.adjust',
  'codes.create',
  'codes.withdraw',
  'prices.set',
  'prices.withdraw',
  'keys.create',
  'keys.revoke',
  'caps.set',
  'tasks.cancel',
  'tasks.delete',
  'tasks.retry',
  'callbacks.redeliver',
  'callback_secret.rotate',
  'events.set',
  'events.remove',
  'event_secret.rotate',
  'operators.create',
  'operators.revoke',
  'providers.set',
  'providers.test',
  'announcement.set',
  'announcement.remove',
  'people.invite',
  'people.withdraw',
  'people.reset',
  'people.sign_up_link',
  'people.disable',
  'people.enable',
  'people.operator',
  'people.end_sessions',
  'people.erase',
] as const;
export type OperatorAction = (typeof operatorActions)[number];
