import { type Kysely, sql } from 'kysely';
import { playableVideoSql } from '../../../library/gallery/videos.ts';

/** Favorites, tags and share links of videos. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
create index tasks_playable on tasks (account_id, created_at desc, id desc) where ${playableVideoSql};
create index tasks_playable_by_model on tasks (account_id, model, created_at desc, id desc) where ${playableVideoSql};

-- The times are those of the tasks, so that an index lists the newest videos first.
create table task_favorites (
  task_id uuid primary key references tasks,
  account_id uuid not null references accounts,
  task_created_at timestamptz not null
);
create index task_favorites_by_account on task_favorites (account_id, task_created_at desc, task_id desc);

create table task_tags (
  task_id uuid not null references tasks,
  tag text not null check (length(tag) between 1 and 40),
  account_id uuid not null references accounts,
  task_created_at timestamptz not null,
  primary key (task_id, tag)
);
create index task_tags_by_account on task_tags (account_id, tag, task_created_at desc, task_id desc);

-- The token of a link opens the page of its video, and nothing else.
create table share_links (
  id uuid primary key,
  task_id uuid not null references tasks,
  account_id uuid not null references accounts,
  hash bytea not null unique check (length(hash) = 32),
  title text check (length(title) between 1 and 120),
  shows_account boolean not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index share_links_by_task on share_links (task_id, id);
create index share_links_by_account on share_links (account_id, id);
create index share_links_by_expiry on share_links (expires_at);

-- Labels and links end with the video: after its retention, and when the content of the task is deleted or the account is closed.
create function forget_deleted_video() returns trigger language plpgsql as $$
begin
  delete from task_favorites where task_id = new.id;
  delete from task_tags where task_id = new.id;
  delete from share_links where task_id = new.id;
  return null;
end $$;
create trigger deleted_videos_are_forgotten after update of media_deleted_at on tasks
  for each row when (old.media_deleted_at is null and new.media_deleted_at is not null and new.state = 'success')
  execute function forget_deleted_video()`)
    .execute(db);
}
