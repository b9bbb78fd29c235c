import type { OnlineChange } from '../online-changes.ts';

/** Nothing that a transaction does. */
export async function up(): Promise<void> {}

export const onlineChanges: readonly OnlineChange[] = [
  {
    index: 'one_time_links_of_operators',
    on: 'one_time_links (id) where makes_operator and used_at is null and withdrawn_at is null',
  },
];
