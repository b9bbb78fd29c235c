import { actionTexts } from '../../../accounts/operators/actors-and-actions.ts';
import { labelOrName } from '../../ui/controls/words-and-tones.ts';

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
export const nonConsoleActorWords: Readonly<Record<string, string>> = {
  operator: 'API key',
  command_line: 'command line',
};

export const actionWord = (action: string) => labelOrName(actionTexts, action);

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
