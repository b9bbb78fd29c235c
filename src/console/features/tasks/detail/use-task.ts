import type { ListedTask, OperatorListedTask, TaskDetail, TaskRecord, TaskTimeline } from '../../../api/contract.ts';
import { useRead, useReadsOfOnePath } from '../../../api/read-and-send-hooks.ts';
import { useIsOperatorPage } from '../../../api/session.ts';
import type { CallbackView } from '../../callbacks/callback-card.tsx';

/** A task of a list; operators see its account as well. */
export type ListedTaskRow = ListedTask & Partial<Pick<OperatorListedTask, 'operator'>>;

/** A task with everything around it; operators see its upstream jobs as well. */
export type TaskView = Omit<TaskTimeline, 'callback'> &
  Partial<Pick<TaskDetail, 'operator'>> & { readonly callback: CallbackView | null };

export function isLive({ state }: Pick<TaskRecord, 'state'>): boolean {
  return state !== 'success' && state !== 'fail';
}

/** A live task is read every second, the pace of its progress; one whose callback is pending every three. */
export function useTask(taskId: string | undefined) {
  const path = useIsOperatorPage() ? '/api/admin/v1/tasks/show' : '/api/v1/jobs/timeline';
  return useRead(
    path,
    { taskId: taskId ?? '' },
    {
      isEnabled: taskId !== undefined,
      everyMs: (view) => {
        if (view === undefined || isLive(view.task)) return 1000;
        return view.callback?.state === 'pending' ? 3000 : false;
      },
    },
  );
}

/** A hidden tab has only the end of its tasks to report. */
const hiddenPaceMs = 5000;

/** Several tasks of the account, also read while the page is hidden, whose title and notification follow them. */
export function useParallelTasks(taskIds: readonly string[]) {
  return useReadsOfOnePath(
    '/api/v1/jobs/timeline',
    taskIds.map((taskId) => ({ taskId })),
    {
      everyMs: (view) =>
        view === undefined || isLive(view.task) ? (document.visibilityState === 'hidden' ? hiddenPaceMs : 1000) : false,
      inBackground: true,
    },
  );
}
