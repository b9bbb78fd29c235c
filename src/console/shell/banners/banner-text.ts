import type { Answer } from '../../api/call.ts';
import { formatDuration } from '../../ui/times-and-durations.tsx';

type Trouble = Answer<'/api/v1/status'>['models'][number];

/** Every string of the banners above the pages. */
export const bannerText = {
  suspended: 'This account is suspended: it can’t create tasks or keys.',
  reason: 'Reason:',
  support: 'Contact support',
  /** One sentence for each state that occurs, and what happens to tasks. */
  trouble: (models: readonly Trouble[]) => {
    const sentences = (['unavailable', 'slow', 'failing'] as const).flatMap((state) => {
      const found = models.filter((model) => model.state === state);
      return found.length === 0 ? [] : `${stateSentence(state, found)}${outlook(state, found)}`;
    });
    return sentences.join(' ');
  },
  lowBalance: (balance: number) =>
    balance <= 0
      ? 'This account has no credits left. New tasks are refused until you add some.'
      : `Your balance is low: ${balance.toLocaleString('en')} ${balance === 1 ? 'credit' : 'credits'} left.`,
  buyCredits: 'Buy credits',
} as const;

const shownTitles = 2;

/** "A", "A and B", or "A, B and 3 more models". */
function listed(titles: readonly string[]): string {
  const more = titles.length - shownTitles;
  if (more <= 0) return titles.join(' and ');
  return `${titles.slice(0, shownTitles).join(', ')} and ${more} more ${more === 1 ? 'model' : 'models'}`;
}

function stateSentence(state: Trouble['state'], models: readonly Trouble[]): string {
  const titles = listed(models.map(({ title }) => title));
  const verb = models.length === 1 ? 'is' : 'are';
  return {
    unavailable: `${titles} ${verb} temporarily unavailable.`,
    slow: `${titles} ${verb} slower than usual.`,
    failing: `Many videos of ${titles} are failing. Failed tasks are refunded in full.`,
  }[state];
}

/** The fate of tasks that wait, with the last of the estimates, because the banner has one sentence for several models. */
function outlook(state: Trouble['state'], models: readonly Trouble[]): string {
  if (state === 'failing') return '';
  const ends = models.map(({ estimatedEndTime }) => estimatedEndTime);
  const known = ends.filter((end) => end !== null);
  // Without one of the estimates, the end of the trouble is unknown.
  if (known.length < ends.length) return ` ${waitingWords(models)}`;
  const restMs = Math.max(...known) - Date.now();
  return restMs < 60_000
    ? ' Tasks wait, and should start within a minute.'
    : ` Tasks wait, and should start within about ${formatDuration(roundedUp(restMs))}.`;
}

function waitingWords(models: readonly Trouble[]): string {
  return models.every(({ retryTime }) => retryTime === null)
    ? 'Tasks wait, and start automatically once it is resolved.'
    : 'Tasks wait, and are retried automatically.';
}

/** An estimate in seconds would pretend to be exact. */
function roundedUp(ms: number): number {
  return Math.ceil(ms / 60_000) * 60_000;
}
