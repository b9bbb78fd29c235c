import type { Answer } from '../api/call.ts';
import { number } from '../ui/money.tsx';
import { duration } from '../ui/time.tsx';

type Trouble = Answer<'/api/v1/status'>['models'][number];

/** Every string of the banners above the pages. */
export const bannerText = {
  suspended: 'This account is suspended: it can’t create tasks or keys.',
  reason: 'Reason:',
  support: 'Contact support',
  trouble: ({ title, state, retryTime }: Trouble) =>
    `${title} ${state === 'slow' ? 'is slower than usual' : 'is temporarily unavailable'}. ${nextTry(retryTime)}`,
  moreModels: (count: number) => `${count} more ${count === 1 ? 'model is' : 'models are'} affected.`,
  lowBalance: (balance: number) =>
    balance <= 0
      ? 'This account has no credits left. New tasks are refused until you add some.'
      : `Your balance is low: ${number(balance)} credits left.`,
  buyCredits: 'Buy credits',
} as const;

/** A time is that of the next attempt, which the service has planned; when the trouble ends is not known. */
function nextTry(retryTime: number | null): string {
  if (retryTime === null) return 'Tasks wait until it is back, and start automatically.';
  const restMs = retryTime - Date.now();
  return `Tasks wait and are retried automatically${restMs > 1000 ? `, next in ${duration(restMs)}` : ''}.`;
}
