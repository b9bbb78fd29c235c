import pg from 'pg';

/** Moves a task's creation and end into the past, so that `reconcile` need not wait for its grace times. */
export async function ageTask({ url }: { readonly url: string }, taskId: string, byMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Otherwise a trigger refuses to change a task that has ended.
    await client.query('set session_replication_role = replica');
    const text = `
      update tasks set created_at = created_at - $2 * interval '1 millisecond',
        completed_at = completed_at - $2 * interval '1 millisecond'
      where id = $1`;
    await client.query(text, [taskId, byMs]);
  } finally {
    await client.end();
  }
}

/** Moves a task's creation and end to these Unix milliseconds. */
export async function setTaskTimes(
  { url }: { readonly url: string },
  taskId: string,
  { createdAt, endedAt }: { readonly createdAt: number; readonly endedAt: number | null },
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Otherwise a trigger refuses to change a task that has ended.
    await client.query('set session_replication_role = replica');
    const text =
      'update tasks set created_at = to_timestamp($2 / 1000.0), completed_at = to_timestamp($3 / 1000.0) where id = $1';
    await client.query(text, [taskId, createdAt, endedAt]);
  } finally {
    await client.end();
  }
}
