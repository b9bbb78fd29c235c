import { finalStates, unfinishedStates } from './task.ts';
import { literalListSql } from '../../platform/database/sql-fragments-and-parameters.ts';

// SQL conditions on a row of `tasks`. PostgreSQL uses a partial index only if the text is the same.

export const unfinishedTaskSql = `state in ${literalListSql(unfinishedStates)}`;
export const finishedTaskSql = `state in ${literalListSql(finalStates)}`;
