import type { ModelInvalidResults } from '../../tasks/list/task-counts-and-results-for-operators.ts';
import { type Finding, ok, warning } from './checks-and-findings.ts';

const maxShown = 3;

/** A model whose tasks fail because of their videos often is sold with more than it makes, such as sound. */
export function invalidResultsFinding(shortfalls: readonly ModelInvalidResults[]): Finding {
  if (shortfalls.length === 0) return ok('results', 'no task of the last week failed because of its video');
  const shown = shortfalls
    .slice(0, maxShown)
    .map(({ model, tasks, failMsg }) => `${tasks} of ${model} (the last one: ${failMsg})`);
  const more = shortfalls.length > maxShown ? ` and those of ${shortfalls.length - maxShown} more models` : '';
  return warning(
    'results',
    `videos of the last week that no customer got, with a full refund: ${shown.join(', ')}${more}`,
    'Sell what the model makes: set its input, such as generateAudio: { fixed: false } for silent videos, or shortfall (docs/models.md).',
  );
}
