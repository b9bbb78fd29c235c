import type { Answer } from '../api/call.ts';
import { number } from '../ui/money.tsx';
import { duration } from '../ui/time.tsx';

type Trouble = Answer<'/api/v1/status'>['models'][number];

/** Every string of the banners above the pages. */
export const bannerText = {
  suspended: 'This account is suspended: it can’t create tasks or keys.',
  reason: 'Reason:',
  support: 'Contact support',
  /** One sentence for each state that occurs, and what happens to tasks. */
  trouble: (models: readonly Trouble[]) => {
    const sentences = (['unavailable', 'slow'] as const).flatMap((state) => {
      const titles = models.filter((model) => model.state === state).map(({ title }) => title);
      const verb = titles.length === 1 ? 'is' : 'are';
      return titles.length === 0 ? [] : `${listed(titles)} ${verb} ${stateWords[state]}.`;
    });
    return [...sentences, nextTry(models)].join(' ');
  },
  lowBalance: (balance: number) =>
    balance <= 0
      ? 'This account has no credits left. New tasks are refused until you add some.'
      : `Your balance is low: ${number(balance)} credits left.`,
  buyCredits: 'Buy credits',
} as const;

const stateWords: Readonly<Record<Trouble['state'], string>> = {
  unavailable: 'temporarily unavailable',
  slow: 'slower than usual',
};

const shownTitles = 2;

/** "A", "A and B", or "A, B and 3 more models". */
function listed(titles: readonly string[]): string {
  const more = titles.length - shownTitles;
  if (more <= 0) return titles.join(' and ');
  return `${titles.slice(0, shownTitles).join(', ')} and ${more} more ${more === 1 ? 'model' : 'models'}`;
}

/** A time is that of the next attempt, which the service has planned; when the trouble ends is not known. */
function nextTry(models: readonly Trouble[]): string {
  const times = models.flatMap(({ retryTime }) => retryTime ?? []);
  if (times.length === 0) return 'Tasks wait, and start automatically once it is resolved.';
  const restMs = Math.min(...times) - Date.now();
  return `Tasks wait and are retried automatically${restMs > 1000 ? `, next in ${duration(restMs)}` : ''}.`;
}
