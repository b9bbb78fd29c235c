import type { TaskRecord } from '../../api/contract.ts';
import { useRead } from '../../api/queries.ts';

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
