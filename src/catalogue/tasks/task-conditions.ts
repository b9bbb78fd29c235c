import { finalStates, unfinishedStates } from './task.ts';
import { literals } from '../../platform/database/sql.ts';

// SQL conditions on a row of `tasks`. PostgreSQL uses a partial index only if the text is the same.

export const isUnfinished = `state in ${literals(unfinishedStates)}`;
export const isFinished = `state in ${literals(finalStates)}`;
