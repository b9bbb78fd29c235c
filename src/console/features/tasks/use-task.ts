import type { QueryClient } from '@tanstack/preact-query';
import type { TaskRecord } from '../../api/contract.ts';
import { readQuery, useRead } from '../../api/queries.ts';

const path = '/api/v1/jobs/timeline';

export function isLive({ state }: Pick<TaskRecord, 'state'>): boolean {
  return state !== 'success' && state !== 'fail';
}

/** A live task is read every second, as the service asks its engine; one whose callback is under way every three. */
export function useTask(taskId: string | undefined) {
  return useRead(
    path,
    { taskId: taskId ?? '' },
    {
      isEnabled: taskId !== undefined,
      everyMs: (data) => {
        if (data === undefined || isLive(data.task)) return 1000;
        return data.callback?.state === 'pending' ? 3000 : false;
      },
    },
  );
}

/** Asks for a task and its poster before the page that shows them is there: on a slow line the poster is what one waits for. */
export async function loadTask(client: QueryClient, accountId: string, taskId: string): Promise<void> {
  const { posterUrl } = await client.fetchQuery(readQuery(accountId, path, { taskId }));
  if (posterUrl !== null) new Image().src = posterUrl;
}
