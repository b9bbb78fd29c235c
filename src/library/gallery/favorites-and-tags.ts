import { lockAccount } from '../../accounts/accounts.ts';
import type { Database } from '../../platform/database/database.ts';
import { many, noRows, one } from '../../platform/database/declare-statements.ts';
import { playableVideoSql } from './videos.ts';

// Favorites and tags belong to the account: all its members see the same ones.

export const maxTagLength = 40;
export const maxTagsOfVideo = 20;
export const maxTagsOfAccount = 200;
export const maxVideosLabeledAtOnce = 100;

export class TooManyTagsError extends Error {
  override readonly name = 'TooManyTagsError';
  readonly limit: number;

  constructor(message: string, limit: number) {
    super(message);
    this.limit = limit;
  }
}

/** Tags are the same in upper and lower case. */
export function normalizedTag(text: string): string {
  return text.normalize('NFC').trim().replaceAll(/\s+/g, ' ').toLowerCase();
}

export type FavoriteAndTagChange = {
  readonly accountId: string;
  readonly taskIds: readonly string[];
  /** Undefined leaves it as it is. */
  readonly isFavorite: boolean | undefined;
  readonly addTags: readonly string[];
  readonly removeTags: readonly string[];
};

/**
 * Labels videos of an account, all or none. Returns false if one of them is not a video of the account; throws `TooManyTagsError` beyond the
 * limits.
 */
export function setFavoritesAndTags(db: Database, labeling: FavoriteAndTagChange): Promise<boolean> {
  const { accountId, taskIds, isFavorite, addTags, removeTags } = labeling;
  return db.transaction(async (run) => {
    // Counts of an account's tags are exact, because its labelings run one after the other.
    await lockAccount({ run }, accountId);
    const locked = await lockVideos({ run }, accountId, taskIds);
    if (locked.length < new Set(taskIds).size) return false;
    if (isFavorite === true) await addFavorites({ run }, taskIds);
    if (isFavorite === false) await removeFavorites({ run }, taskIds);
    if (removeTags.length > 0) await deleteTags({ run }, taskIds, removeTags);
    if (addTags.length > 0) {
      await insertTags({ run }, taskIds, addTags);
      await requireFewTags({ run }, accountId, taskIds);
    }
    return true;
  });
}

/** The lock excludes a deletion, which would leave the labels behind. */
const lockVideos = many<{ readonly id: string }, [accountId: string, taskIds: readonly string[]]>({
  name: 'lock-videos',
  text: `
select id from tasks where id = any($2::uuid[]) and account_id = $1 and ${playableVideoSql} order by id for share`,
});

const addFavorites = noRows<[taskIds: readonly string[]]>({
  name: 'add-favorites',
  text: `
insert into task_favorites (task_id, account_id, task_created_at)
select id, account_id, created_at from tasks where id = any($1::uuid[])
on conflict do nothing`,
});

const removeFavorites = noRows<[taskIds: readonly string[]]>({
  name: 'remove-favorites',
  text: `delete from task_favorites where task_id = any($1::uuid[])`,
});

const deleteTags = noRows<[taskIds: readonly string[], tags: readonly string[]]>({
  name: 'remove-tags',
  text: `delete from task_tags where task_id = any($1::uuid[]) and tag = any($2::text[])`,
});

const insertTags = noRows<[taskIds: readonly string[], tags: readonly string[]]>({
  name: 'add-tags',
  text: `
insert into task_tags (task_id, tag, account_id, task_created_at)
select id, tag, account_id, created_at from tasks cross join unnest($2::text[]) tag where id = any($1::uuid[])
on conflict do nothing`,
});

const findMostTags = one<{ readonly tags: number }, [taskIds: readonly string[]]>({
  name: 'find-most-tags-of-videos',
  text: `
select coalesce(max(tags), 0)::int as tags from (
  select count(*) as tags from task_tags where task_id = any($1::uuid[]) group by task_id
) counted`,
});

async function requireFewTags(db: Pick<Database, 'run'>, accountId: string, taskIds: readonly string[]): Promise<void> {
  const { tags } = await findMostTags(db, taskIds);
  if (tags > maxTagsOfVideo)
    throw new TooManyTagsError(`a video has at most ${maxTagsOfVideo} tags; remove one first`, maxTagsOfVideo);
  if ((await listTagNames(db, accountId)).length > maxTagsOfAccount)
    throw new TooManyTagsError(`an account has at most ${maxTagsOfAccount} tags; use another one`, maxTagsOfAccount);
}

/** Lists the tags of an account, one more than its limit at most. Each step goes to the next tag in the index. */
export const listTagNames = many<{ readonly tag: string }, [accountId: string]>({
  name: 'list-tags',
  text: `
with recursive names (tag) as (
  (select tag from task_tags where account_id = $1 order by tag limit 1)
  union all
  select (select tag from task_tags where account_id = $1 and tag > names.tag order by tag limit 1)
  from names where tag is not null
)
select tag from names where tag is not null limit ${maxTagsOfAccount + 1}`,
});

export type FavoriteOrTaggedVideo = {
  readonly taskId: string;
  readonly isFavorite: boolean;
  readonly tags: readonly string[];
};

export const listFavoriteOrTaggedVideos = many<
  FavoriteOrTaggedVideo,
  [accountId: string, after: string | undefined, limit: number]
>({
  name: 'list-labeled-videos',
  text: `
select labeled.task_id as "taskId", exists (select from task_favorites where task_id = labeled.task_id) as "isFavorite",
  array(select tag from task_tags where task_id = labeled.task_id order by tag) as tags
from (
  select task_id from task_favorites where account_id = $1 union select task_id from task_tags where account_id = $1
) labeled
where ($2::uuid is null or task_id > $2) order by task_id limit $3`,
});
