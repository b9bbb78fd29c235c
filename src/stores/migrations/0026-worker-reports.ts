import { type Kysely, sql } from 'kysely';

/** What live workers can generate, so that nothing else is sold. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
create table worker_reports (
  worker_id uuid not null,
  queue text not null check (queue in ('generation', 'generation-remote')),
  models text[] not null,
  refusal text,
  seen_at timestamptz not null default now(),
  primary key (worker_id, queue)
)`.execute(db);
}
