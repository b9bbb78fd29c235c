import { formatNumber } from '../../ui/number-formats.tsx';
import type { WordAndTone } from '../../ui/controls/words-and-tones.ts';

/** Every text about what waits. */
export const waitingText = {
  lead: 'Tasks that are waiting, and why. Updates every few seconds.',
  empty: 'Nothing is waiting',
  emptyAdvice: 'Every unfinished task is being generated.',
  reasons: 'Reasons',
  reason: 'Reason',
  provider: 'Provider',
  tasks: 'Tasks',
  oldest: 'Oldest',
  next: 'Next attempt',
  none: '–',
  due: 'now',
  retry: 'Retry now',
  retryProvider: (provider: string) => `Retry the tasks that wait for ${provider} now?`,
  retryProviderHelp:
    'Ends its cooldown. One task tries the provider first, and the others follow once it succeeds. Limits still apply, and no task gets a second job.',
  retriedProvider: (tasks: number) => `${formatNumber(tasks)} ${tasks === 1 ? 'task is' : 'tasks are'} being retried`,
  retryTask: 'Retry this task now?',
  retryTaskHelp:
    'Ends its wait and the cooldown of its provider. Limits still apply, and a job that is already running continues.',
  retriedTask: (isRetried: boolean) => (isRetried ? 'Task is being retried' : 'The task has ended'),
  retryOf: (provider: string) => `Retry ${provider} now`,
  retryOfTask: (task: string) => `Retry task ${task} now`,
  accounts: 'Accounts with the most waiting tasks',
  account: 'Account',
  oldestTasks: 'Oldest waiting tasks',
  task: 'Task',
  age: 'Age',
} as const;

type Reason = WordAndTone & { readonly help: string };

const words: Readonly<Record<string, Reason>> = {
  start: { word: 'Not started', tone: 'warn', help: 'No worker has started it. Temporal or the workers may be down.' },
  worker: {
    word: 'Needs a worker',
    tone: 'warn',
    help: 'Waiting for a free worker. Start more, or check that they’re running.',
  },
  provider_limit: { word: 'Provider limit', tone: 'live', help: 'All slots of the provider are taken.' },
  provider_cooldown: { word: 'Cooldown', tone: 'warn', help: 'The provider failed. It’s retried after a pause.' },
  provider_disabled: { word: 'Provider switched off', tone: 'bad', help: 'An operator drained it or turned it off.' },
  account_queue: {
    word: 'Account queue',
    tone: 'calm',
    help: 'Behind other tasks of its account. Accounts alternate.',
  },
  lost_response: {
    word: 'Lost response',
    tone: 'warn',
    help: 'The provider’s response was lost. The slot stays taken until its job is found or certainly doesn’t exist.',
  },
  retry: { word: 'Retry', tone: 'warn', help: 'An attempt failed. Another one follows.' },
};

/** The words for a reason, also for one that is newer than this page. */
export function describeWaitingReason(reason: string): Reason {
  return words[reason] ?? { word: reason, tone: 'calm', help: '' };
}
