import type { TaskSearch } from './task-search.ts';

// The filters of lists, counts and exports of tasks, as SQL. Statements that use them begin with `filterValues`.

/**
 * The words of prompts. The account is a lexeme among them, so that a search reads the index entries of one account only. Its first
 * character is in no word, so that no search finds it.
 */
export const promptLexemes = `(array_to_tsvector(array['@' || account_id::text]) || to_tsvector('simple', param->'input'->>'prompt'))`;

/** SQL: the prompt of a task of the account has the words of a tsquery. */
export const promptHas = (account: string, words: string): string =>
  `${promptLexemes} @@ (('''@' || ${account}::text || '''')::tsquery && to_tsquery('simple', ${words}))`;

export type TaskFilter = {
  /** Without it, tasks of all accounts match. */
  readonly accountId?: string | undefined;
  /** Unix milliseconds of creation, from (inclusive) and to (exclusive). */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** This and `provider` have no index: without an account they need a bounded time. */
  readonly model?: string | undefined;
  /** The UUID of a key or person. It has no index either. */
  readonly createdBy?: string | undefined;
  /** A provider that has a job of the task. */
  readonly provider?: string | undefined;
  /** Words of the prompt need an account. */
  readonly search?: TaskSearch | undefined;
};

/** No index covers parts of ids, so a search for one reads the newest tasks only. Their ids are in the index that orders them. */
export const maxSearchedTasks = 100_000;

/** The values of $1 to $10. */
export function filterValues(filter: TaskFilter): readonly unknown[] {
  const { accountId, fromMs, toMs, model, createdBy, provider, search } = filter;
  const { idPart, taskId, words } = search ?? {};
  return [accountId, fromMs, toMs, model, createdBy, provider, search !== undefined, idPart, taskId, words];
}

export const isOfAccount = `($1::uuid is null or account_id = $1)`;
export const createdFrom = `coalesce(to_timestamp($2::float8 / 1000), '-infinity')`;
export const createdTo = `coalesce(to_timestamp($3::float8 / 1000), 'infinity')`;
export const isInRange = `${isOfAccount} and created_at >= ${createdFrom} and created_at < ${createdTo}`;

/** The other conditions, on a row that is called `tasks`. */
export const matchesFilter = `($4::text is null or model = $4)
  and ($5::uuid is null or key_id = $5 or user_id = $5)
  and ($6::text is null or (select 1 from provider_jobs where task_id = tasks.id and provider = $6 limit 1) = 1)
  and (not $7::boolean or id in (
    select id from (
      select id from tasks where ${isInRange} order by created_at desc, id desc limit ${maxSearchedTasks}
    ) newest
    where $8::text is not null and strpos(id::text, $8) > 0
    union all
    select id from tasks where id = $9::uuid and ${isOfAccount}
    union all
    select id from tasks
    where $10::text is not null and account_id = $1
      and ${promptHas('$1', '$10')}))`;
