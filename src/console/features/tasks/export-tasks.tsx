import { searchOf } from '../../api/call.ts';
import { download } from '../../api/download.ts';
import { failureOf } from '../../api/problem.ts';
import { useAction } from '../../api/queries.ts';
import { useAccount, useIsOperator } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.tsx';
import { Download } from '../../ui/icons.ts';
import { toast } from '../../ui/toast.tsx';
import type { TaskFilter } from './task-filters.tsx';
import { tasksText } from './tasks-text.ts';

/** The tasks that the list shows, from all of its pages, as a file. */
export function ExportTasks({ filters }: { readonly filters: readonly TaskFilter[] }) {
  const isOperator = useIsOperator();
  const { accountId } = useAccount();
  const { query } = useFilters(filters);
  const path = isOperator ? '/api/admin/v1/tasks/export' : '/api/v1/jobs/exportTasks';
  const save = useAction(() => download(`${path}${searchOf(query)}`, isOperator ? undefined : accountId, 'tasks.csv'), {
    onError: (problem) => toast(failureOf(problem).sentence, 'bad'),
  });
  return (
    <Button busy={save.isPending} onClick={() => save.mutate()}>
      <Download size={16} aria-hidden="true" /> {tasksText.csv}
    </Button>
  );
}
