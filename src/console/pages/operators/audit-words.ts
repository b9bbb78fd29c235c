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

export type Detail = readonly [name: string, value: string];

/** Old and new values, one a line; the reason is shown apart from them, and ids that are links are left out. */
export function detailsOf({ details }: Pick<OperatorAction, 'details'>): readonly Detail[] {
  return Object.entries(details)
    .filter(([name, value]) => name !== 'reason' && value !== null && value !== undefined)
    .map(([name, value]) => [nameOf(name), valueOf(name, value)] as const);
}

export function reasonOf({ details }: Pick<OperatorAction, 'details'>): string | undefined {
  const { reason } = details;
  return typeof reason === 'string' ? reason : undefined;
}

/** `maxUnfinishedTasks` → "max unfinished tasks". */
function nameOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function valueOf(name: string, value: unknown): string {
  if (typeof value === 'number') return /(?:Time|At|Ms)$/.test(name) ? timeOf(value) : number(value);
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object' || value === null) return '–';
  return Object.entries(value)
    .map(([key, inner]) => `${nameOf(key)} ${valueOf(key, inner)}`)
    .join(', ');
}

const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });

function timeOf(ms: number): string {
  return ms > 1e12 ? exact.format(ms) : number(ms);
}
