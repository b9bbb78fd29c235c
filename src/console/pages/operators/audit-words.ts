import type { OperatorAction } from '../../api/contract.ts';
import { number } from '../../ui/money.tsx';

/** What was done, as a person says it. An action that is newer than this page is shown by its name. */
const words: Readonly<Record<string, string>> = {
  'accounts.create': 'Opened the account',
  'accounts.suspend': 'Suspended the account',
  'accounts.unsuspend': 'Lifted the suspension',
  'accounts.limits': 'Changed the limits',
  'credits.grant': 'Granted credits',
  'credits.adjust': 'Adjusted the balance',
  'prices.set': 'Set a price',
  'prices.withdraw': 'Withdrew a price',
  'keys.create': 'Created a key',
  'keys.revoke': 'Revoked a key',
  'tasks.cancel': 'Cancelled a task',
  'callbacks.redeliver': 'Sent a callback again',
  'callback_secret.rotate': 'Rotated the callback secret',
  'operators.create': 'Created an operator’s key',
  'operators.revoke': 'Revoked an operator’s key',
  'providers.set': 'Switched a provider',
  'people.invite': 'Invited somebody',
  'people.reset': 'Made a reset link',
  'people.disable': 'Disabled a person',
  'people.enable': 'Enabled a person',
  'people.operator': 'Changed who is an operator',
  'people.end_sessions': 'Ended sessions',
};

export function actionWord({ action }: Pick<OperatorAction, 'action'>): string {
  return words[action] ?? action;
}

/** What a reader can do nothing with: the reason, which is shown apart, and ids. */
const hidden = new Set(['reason', 'priceId', 'entryId', 'userId', 'purpose']);

/** Old and new values in one line. */
export function detailsOf({ details }: Pick<OperatorAction, 'details'>): string {
  return listed(Object.entries(details).filter(([name]) => !hidden.has(name)));
}

export function reasonOf({ details }: Pick<OperatorAction, 'details'>): string | undefined {
  const { reason } = details;
  return typeof reason === 'string' ? reason : undefined;
}

function listed(entries: readonly (readonly [name: string, value: unknown])[]): string {
  return entries
    .filter(([, value]) => value !== null && value !== undefined && value !== false)
    .map(([name, value]) => (value === true ? nameOf(name) : `${nameOf(name)} ${valueOf(name, value)}`))
    .join(', ');
}

const names: Readonly<Record<string, string>> = {
  email: 'e-mail',
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
  if (typeof value === 'number') return /(?:Time|At|From)$/.test(name) ? exact.format(value) : number(value);
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.join(' + ');
  if (typeof value !== 'object' || value === null) return String(value);
  return `(${listed(Object.entries(value))})`;
}

const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
