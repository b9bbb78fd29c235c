import type { FailCode } from '../../catalogue/tasks/fail-codes-and-outcomes.ts';
import type { TaskSearch } from './parse-task-search.ts';
import type { TaskState } from '../../catalogue/tasks/task.ts';
import { namedParameters } from '../../platform/database/sql-fragments-and-parameters.ts';

// The filters of lists, counts and exports of tasks, as SQL. A filter that is declared in the type does not compile without a parameter and
// a condition below, an entry in filters-without-index.ts, and a query parameter in src/api/tasks/task-list-and-count-routes.ts.

/**
 * The words of prompts. The account is a lexeme among them, so that a search reads the index entries of one account only. Its first
 * character is in no word, so that no search finds it.
 */
export const promptLexemesSql = `(array_to_tsvector(array['@' || account_id::text]) || to_tsvector('simple', param->'input'->>'prompt'))`;

/** SQL: the prompt of a task of the account has the words of a tsquery. */
export const promptHasWordsSql = (account: string, words: string): string =>
  `${promptLexemesSql} @@ (('''@' || ${account}::text || '''')::tsquery && to_tsquery('simple', ${words}))`;

export type TaskFilter = {
  /** Without it, tasks of all accounts match. */
  readonly accountId?: string | undefined;
  /** Unix milliseconds of creation, from (inclusive) and to (exclusive). */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly model?: string | undefined;
  /** The UUID of a key or person. */
  readonly createdBy?: string | undefined;
  /** A provider that has a job of the task. */
  readonly provider?: string | undefined;
  /** Words of the prompt need an account. */
  readonly search?: TaskSearch | undefined;
  readonly state?: TaskState | undefined;
  /** Failed tasks with one of these codes. */
  readonly failCodes?: readonly FailCode[] | undefined;
};

/** Counts are by state, so no filter restricts it. */
export type CountFilter = Omit<TaskFilter, 'state' | 'failCodes'>;

/** No index covers parts of ids, so a search for one reads the newest tasks only. Their ids are in the index that orders them. */
export const maxSearchedTasks = 100_000;

export type FilterSqlParameters = Omit<CountFilter, 'search'> & { readonly isSearch: boolean } & Partial<TaskSearch>;

export function withSearchValues<Filter extends CountFilter>({ search, ...filter }: Filter) {
  return { ...filter, isSearch: search !== undefined, ...search };
}

/** A statement with these conditions has these parameters first. */
export const filterParameterTypes = {
  accountId: 'uuid',
  fromMs: 'float8',
  toMs: 'float8',
  model: 'text',
  createdBy: 'uuid',
  provider: 'text',
  isSearch: 'boolean',
  idPart: 'text',
  taskId: 'uuid',
  words: 'text',
};
const { $, values } = namedParameters<FilterSqlParameters>(filterParameterTypes);
export const filterParameterValues = (filter: CountFilter) => values(withSearchValues(filter));

export const isOfAccountSql = `(${$.accountId} is null or account_id = ${$.accountId})`;
export const createdFromSql = `coalesce(to_timestamp(${$.fromMs} / 1000), '-infinity')`;
export const createdToSql = `coalesce(to_timestamp(${$.toMs} / 1000), 'infinity')`;
export const isInRangeSql = `${isOfAccountSql} and created_at >= ${createdFromSql} and created_at < ${createdToSql}`;

const conditions: Readonly<Record<Exclude<keyof CountFilter, 'accountId' | 'fromMs' | 'toMs'>, string>> = {
  model: `(${$.model} is null or model = ${$.model})`,
  createdBy: `(${$.createdBy} is null or key_id = ${$.createdBy} or user_id = ${$.createdBy})`,
  provider: `(${$.provider} is null
    or (select 1 from provider_jobs where task_id = tasks.id and provider = ${$.provider} limit 1) = 1)`,
  search: `(not ${$.isSearch} or id in (
    select id from (
      select id from tasks where ${isInRangeSql} order by created_at desc, id desc limit ${maxSearchedTasks}
    ) newest
    where ${$.idPart} is not null and strpos(id::text, ${$.idPart}) > 0
    union all
    select id from tasks where id = ${$.taskId} and ${isOfAccountSql}
    union all
    select id from tasks
    where ${$.words} is not null and account_id = ${$.accountId}
      and ${promptHasWordsSql($.accountId, $.words)}))`,
};

/** The conditions beside `isInRangeSql`, on a row that is called `tasks`. */
export const matchesFilterSql = Object.values(conditions).join('\n  and ');
