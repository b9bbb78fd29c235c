import { finalStates, unfinishedStates } from './task.ts';
import { literalList } from '../../platform/database/sql-fragments.ts';

// SQL conditions on a row of `tasks`. PostgreSQL uses a partial index only if the text is the same.

export const unfinishedCondition = `state in ${literalList(unfinishedStates)}`;
export const finishedCondition = `state in ${literalList(finalStates)}`;
