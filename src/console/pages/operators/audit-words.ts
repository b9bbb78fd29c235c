import type { OperatorAction } from '../../api/contract.ts';
import { number } from '../../ui/money.tsx';
import { exactTime } from '../../ui/time.tsx';

/** What was done, as a person says it. An action that is newer than this page is shown by its name. */
const words: Readonly<Record<string, string>> = {
  'accounts.create': 'Opened the account',
  'accounts.suspend': 'Suspended the account',
  'accounts.unsuspend': 'Lifted the suspension',
  'accounts.limits': 'Changed the limits',
  'accounts.rename': 'Renamed the account',
  'accounts.close': 'Closed the account',
  'credits.grant': 'Granted credits',
  'credits.adjust': 'Adjusted the balance',
  'codes.create': 'Created redemption codes',
  'codes.withdraw': 'Withdrew redemption codes',
  'prices.set': 'Set a price',
  'prices.withdraw': 'Withdrew a price',
  'keys.create': 'Created a key',
  'keys.revoke': 'Revoked a key',
  'caps.set': 'Set spend caps',
  'tasks.cancel': 'Cancelled a task',
  'tasks.delete': 'Deleted the content of a task',
  'callbacks.redeliver': 'Sent a callback again',
  'callback_secret.rotate': 'Rotated the callback secret',
  'events.set': 'Set the event endpoint',
  'events.remove': 'Removed the event endpoint',
  'event_secret.rotate': 'Rotated the event secret',
  'operators.create': 'Created an operator’s key',
  'operators.revoke': 'Revoked an operator’s key',
  'providers.set': 'Switched a provider',
  'people.invite': 'Invited somebody',
  'people.withdraw': 'Withdrew an invitation',
  'people.reset': 'Made a reset link',
  'people.disable': 'Disabled a person',
  'people.enable': 'Enabled a person',
  'people.operator': 'Changed who is an operator',
  'people.end_sessions': 'Ended sessions',
  'people.erase': 'Erased a person',
};

export function actionWord({ action }: Pick<OperatorAction, 'action'>): string {
  return words[action] ?? action;
}

/** What a reader can do nothing with: the reason, which is shown apart, and ids. */
const hidden = new Set(['reason', 'priceId', 'entryId', 'userId', 'linkId', 'purpose']);

/** Old and new values in one line. */
export function detailsOf({ details }: Pick<OperatorAction, 'details'>): string {
  const { from, to } = details;
  if (isValues(from) && isValues(to)) return changesOf(from, to);
  return listed(Object.entries(details).filter(([name]) => !hidden.has(name)));
}

type Values = Readonly<Record<string, unknown>>;

function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** "max unfinished tasks 1,000 → 40". */
function changesOf(from: Values, to: Values): string {
  return Object.keys(to)
    .filter((name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]))
    .map((name) => `${nameOf(name)} ${valueOf(name, from[name])} → ${valueOf(name, to[name])}`)
    .join(', ');
}

export function reasonOf({ details }: Pick<OperatorAction, 'details'>): string | undefined {
  const { reason } = details;
  return typeof reason === 'string' ? reason : undefined;
}

function listed(entries: readonly (readonly [name: string, value: unknown])[]): string {
  return entries
    .filter(([, value]) => value !== null && value !== undefined && value !== false)
    .map(([name, value]) => (value === true ? nameOf(name) : `${nameOf(name)} ${valueOf(name, value)}`.trim()))
    .join(', ');
}

const names: Readonly<Record<string, string>> = {
  // Values that say by themselves what they are.
  email: '',
  name: '',
  model: '',
  provider: '',
  isOperator: 'as an operator',
  quota: 'at most',
  windowMs: 'in ms',
  before: 'was',
  balance: 'balance then',
};

/** `maxUnfinishedTasks` → "max unfinished tasks". */
function nameOf(name: string): string {
  return names[name] ?? name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function valueOf(name: string, value: unknown): string {
  if (typeof value === 'number') return /(?:Time|At|From)$/.test(name) ? exactTime(value) : number(value);
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.join(' + ');
  if (isValues(value)) return listed(Object.entries(value));
  return value === null || value === undefined ? 'none' : JSON.stringify(value);
}
