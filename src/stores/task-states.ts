import { finalStates, unfinishedStates } from '../domain/task.ts';

// Conditions on a row of `tasks`. Partial indexes have the same text, so that PostgreSQL uses them.

export const isUnfinished = `state in (${listOf(unfinishedStates)})`;
export const isFinished = `state in (${listOf(finalStates)})`;

function listOf(states: readonly string[]): string {
  return states.map((state) => `'${state}'`).join(', ');
}
