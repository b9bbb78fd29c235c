import type { OnlineChange } from '../online-changes.ts';

/** Nothing that a transaction does. */
export async function up(): Promise<void> {}

/** `tasks_by_completion` begins with the same column and has the same condition. */
export const onlineChanges: readonly OnlineChange[] = [{ dropped: 'tasks_by_end' }];
