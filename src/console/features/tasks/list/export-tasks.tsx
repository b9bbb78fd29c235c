import { queryStringOf } from '../../../api/call.ts';
import { useIsOperatorPage } from '../../../api/session.ts';
import { useFilters } from '../../../ui/lists/filter-bar-and-url-parameters.tsx';
import { DownloadButton } from '../../../ui/controls/download-button.tsx';
import type { TaskFilter } from './task-filters.tsx';
import { tasksText } from '../tasks-text.ts';

/** The tasks that the list shows, from all of its pages, as a file. */
export function ExportTasks({ filters }: { readonly filters: readonly TaskFilter[] }) {
  const { query } = useFilters(filters);
  const path = useIsOperatorPage() ? '/api/admin/v1/tasks/export' : '/api/v1/jobs/exportTasks';
  return <DownloadButton address={`${path}${queryStringOf(query)}`} name="tasks.csv" label={tasksText.csv} />;
}
