/** The hint of a reason that only operators read. */
export const auditHint = 'Recorded in the audit log with your name.';

/** Every text of the audit log. */
export const auditText = {
  lead: 'Every change by operators, in the console, through the API and on the command line.',
  noun: ['entry', 'entries'],
  caption: 'Audit log',
  empty: 'No changes yet',
  emptyAdvice: 'Grants, prices, limits, suspensions and all other changes are listed here, with who made them.',
  action: 'Action',
  target: 'Target',
  reason: 'Reason',
  actor: 'Actor',
  time: 'Time',
  task: 'task',
  none: 'none',
} as const;

/** The means of an actor other than a person in the console. */
export const actorKinds: Readonly<Record<string, string>> = { operator: 'API key', command_line: 'command line' };

const actions: Readonly<Record<string, string>> = {
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
  'caps.set': 'Set spend limits',
  'events.set': 'Set event endpoint',
  'events.remove': 'Removed event endpoint',
  'event_secret.rotate': 'Rotated event secret',
  'prices.set': 'Set price',
  'prices.withdraw': 'Withdrew price',
  'keys.create': 'Created key',
  'keys.revoke': 'Revoked key',
  'tasks.cancel': 'Cancelled task',
  'tasks.delete': 'Deleted task content',
  'tasks.retry': 'Retried waiting tasks',
  'callbacks.redeliver': 'Resent callback',
  'callback_secret.rotate': 'Rotated callback secret',
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
};

/** An action that is newer than this page is shown by its name. */
export function actionWord(action: string): string {
  return actions[action] ?? action;
}

/** Names of details, where the name in the log is not plain enough. Empty: the value needs no name. */
export const detailNames: Readonly<Record<string, string>> = {
  email: '',
  name: '',
  model: '',
  provider: '',
  isOperator: 'as an operator',
  quota: 'at most',
  windowMs: 'in ms',
  before: 'was',
  balance: 'new balance',
};
