import type { Database } from '../../platform/database/database.ts';
import { many, one } from '../../platform/database/declare-statements.ts';
import { leastIdSql, namedParameters } from '../../platform/database/sql-fragments-and-parameters.ts';
import type { Task } from '../../catalogue/tasks/task.ts';
import { promptHasWordsSql } from '../../tasks/list/task-filter.ts';
import { taskColumns } from '../../tasks/task-rows.ts';

/** SQL: the task has a video that was not deleted. */
export const playableVideoSql = `state = 'success' and media_deleted_at is null`;

export type VideoFilter = {
  readonly accountId: string;
  readonly model?: string | undefined;
  readonly ratio?: string | undefined;
  readonly isFavorite?: boolean | undefined;
  readonly tag?: string | undefined;
  /** A tsquery for the prompt. */
  readonly words?: string | undefined;
  /** The task of a cursor. One of another account leads to an empty page. */
  readonly after?: string | undefined;
  readonly limit: number;
};

export type GalleryVideo = Task & { readonly isFavorite: boolean; readonly tags: readonly string[] };

/** `nextAfter`: where the next page begins; undefined after the last one. */
export type VideoPage = { readonly videos: readonly GalleryVideo[]; readonly nextAfter: string | undefined };

/**
 * A request examines this many videos at most, in the order of the index that fits the filter best. A page may therefore have fewer
 * videos than it could hold.
 */
export const maxVideosExamined = 1_000;

export async function listVideos(db: Database, filter: VideoFilter): Promise<VideoPage> {
  const { limit } = filter;
  const { taskIds = [], examinedTo } = await (await findSource(db, filter))(db, filter);
  const ids = taskIds.slice(0, limit);
  const nextAfter = taskIds.length > limit ? ids.at(-1) : examinedTo;
  return { videos: ids.length === 0 ? [] : await readVideos(db, ids), nextAfter };
}

/** Words come first if few prompts have them: common words fill a page soon, in any order. */
async function findSource(db: Database, { accountId, words, tag, isFavorite }: VideoFilter) {
  if (words !== undefined && (await countMatches(db, accountId, words)).matches <= maxVideosExamined)
    return examineMatches;
  if (tag !== undefined) return examineTagged;
  return isFavorite === true ? examineFavorites : examineNewest;
}

const countMatches = one<{ readonly matches: number }, [accountId: string, words: string]>({
  name: 'count-videos-with-words',
  plannedAnew: true,
  text: `
select count(*)::int as matches from (
  select from tasks where account_id = $1 and ${playableVideoSql} and ${promptHasWordsSql('$1', '$2')} limit ${maxVideosExamined + 1}
) matching`,
});

type Examined = { readonly taskIds: readonly string[] | undefined; readonly examinedTo: string | undefined };

const { $, values } = namedParameters<VideoFilter>({
  accountId: 'uuid',
  after: 'uuid',
  model: 'text',
  ratio: 'text',
  isFavorite: 'boolean',
  tag: 'text',
  words: 'text',
  limit: 'integer',
});
const isOfModel = `(${$.model} is null or model = ${$.model})`;

/** The filters beside the account, on a row that is called `tasks`. */
const conditions: Readonly<Record<Exclude<keyof VideoFilter, 'accountId' | 'after' | 'limit'>, string>> = {
  model: isOfModel,
  ratio: `(${$.ratio} is null or param->'input'->>'ratio' = ${$.ratio})`,
  isFavorite: `(${$.isFavorite} is not true or exists (select from task_favorites where task_id = tasks.id))`,
  tag: `(${$.tag} is null or exists (select from task_tags where task_id = tasks.id and tag = ${$.tag}))`,
  words: `(${$.words} is null or ${promptHasWordsSql($.accountId, $.words)})`,
};

/** The task of a cursor is the last one of the page before. */
const isAfterCursor = (time: string, id: string) => `(${time}, ${id}) < (
    case when ${$.after} is null then 'infinity' else (select created_at from tasks where id = ${$.after} and account_id = ${$.accountId}) end,
    coalesce(${$.after}, ${leastIdSql}))`;

/** If none of these filters is set, every candidate is on the page, so the query reads one page only. */
const mostExamined = `case when ${$.ratio} is null and ${$.isFavorite} is not true and ${$.tag} is null and ${$.words} is null then ${$.limit}
  else ${maxVideosExamined} end`;

/** `rows`: SQL of candidates, with `id` and `created_at`. */
function examine(name: string, rows: string) {
  return one<Examined, [filter: VideoFilter]>({
    name,
    plannedAnew: true,
    text: `
with examined as materialized (
  ${rows} order by 2 desc, 1 desc limit ${mostExamined}
), matching as (
  select tasks.id, tasks.created_at from examined join tasks on tasks.id = examined.id
  where account_id = ${$.accountId} and ${playableVideoSql}
    and ${Object.values(conditions).join('\n    and ')}
  order by tasks.created_at desc, tasks.id desc limit ${$.limit}
)
select (select array_agg(id order by created_at desc, id desc) from matching) as "taskIds",
  (select case when count(*) = ${maxVideosExamined} then (array_agg(id order by created_at, id))[1] end from examined) as "examinedTo"`,
    values: ({ limit, ...filter }) => values({ ...filter, limit: limit + 1 }),
  });
}

const examineNewest = examine(
  'examine-newest-videos',
  `select id, created_at from tasks
  where account_id = ${$.accountId} and ${playableVideoSql} and ${isOfModel} and ${isAfterCursor('created_at', 'id')}`,
);

const examineMatches = examine(
  'examine-videos-with-words',
  `select id, created_at from tasks
  where account_id = ${$.accountId} and ${playableVideoSql} and ${promptHasWordsSql($.accountId, $.words)} and ${isAfterCursor('created_at', 'id')}`,
);

const examineTagged = examine(
  'examine-tagged-videos',
  `select task_id as id, task_created_at as created_at from task_tags
  where account_id = ${$.accountId} and tag = ${$.tag} and ${isAfterCursor('task_created_at', 'task_id')}`,
);

const examineFavorites = examine(
  'examine-favorite-videos',
  `select task_id as id, task_created_at as created_at from task_favorites
  where account_id = ${$.accountId} and ${isAfterCursor('task_created_at', 'task_id')}`,
);

const readVideos = many<GalleryVideo, [taskIds: readonly string[]]>({
  name: 'read-gallery-videos',
  text: `
select ${taskColumns}, exists (select from task_favorites where task_id = tasks.id) as "isFavorite",
  array(select tag from task_tags where task_id = tasks.id order by tag) as tags
from tasks where id = any($1::uuid[]) and ${playableVideoSql} order by created_at desc, id desc`,
});

/** The videos of an account among these tasks. */
export const findAccountVideosByIds = many<Task, [accountId: string, taskIds: readonly string[]]>({
  name: 'find-videos',
  text: `
select ${taskColumns} from tasks
where id = any($2::uuid[]) and account_id = $1 and ${playableVideoSql} order by created_at desc, id desc`,
});

/** The videos of any account among these tasks. */
export const findAnyVideosByIds = many<Task, [taskIds: readonly string[]]>({
  name: 'find-playable-videos',
  text: `
select ${taskColumns} from tasks where id = any($1::uuid[]) and ${playableVideoSql} order by created_at desc, id desc`,
});
