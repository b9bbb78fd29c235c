import type { Database } from '../../../src/platform/database/database.ts';

/** The ready-made clip of the prompts is wide; final tasks refuse every change outside of a replica. */
export async function makeResultPortrait(db: Database, taskId: string): Promise<void> {
  const tall = `update tasks set result = (result::jsonb || '{"widthPx": 720, "heightPx": 1280}')::json where id = $1`;
  await db.transaction(async (run) => {
    await run({ name: 'test-as-replica', text: 'set local session_replication_role = replica' });
    await run({ name: 'test-tall-video', text: tall }, [taskId]);
  });
}
