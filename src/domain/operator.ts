/** A person who runs the service, with a key that opens `/api/admin/v1` and nothing else. */
export type Operator = { readonly operatorId: string; readonly name: string };

/** Who acts as an operator: somebody with an operator's key, a person in the console, or a user of the machine at the command line. */
export type Actor =
  | (Operator & { readonly kind: 'operator'; readonly requestId: string })
  | { readonly kind: 'user'; readonly userId: string; readonly name: string; readonly requestId: string }
  | { readonly kind: 'command_line'; readonly name: string };

/** Everything that operators change, as the audit log names it. */
export const operatorActions = [
  'accounts.create',
  'accounts.suspend',
  'accounts.unsuspend',
  'accounts.limits',
  'accounts.rename',
  'accounts.close',
  'credits.grant',
  'credits.adjust',
  'prices.set',
  'prices.withdraw',
  'keys.create',
  'keys.revoke',
  'tasks.cancel',
  'tasks.delete',
  'callbacks.redeliver',
  'callback_secret.rotate',
  'operators.create',
  'operators.revoke',
  'providers.set',
  'people.invite',
  'people.withdraw',
  'people.reset',
  'people.disable',
  'people.enable',
  'people.operator',
  'people.end_sessions',
  'people.erase',
] as const;
export type OperatorAction = (typeof operatorActions)[number];
