import { finalStates, unfinishedStates } from './task.ts';
import { literals } from '../platform/database/sql.ts';

// Conditions on a row of `tasks`, or of an alias when prefixed with its name. PostgreSQL uses a partial index only if the text is the same.

export const isUnfinished = `state in ${literals(unfinishedStates)}`;
export const isFinished = `state in ${literals(finalStates)}`;
