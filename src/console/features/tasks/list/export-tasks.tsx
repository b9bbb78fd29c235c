import { searchOf } from '../../../api/call.ts';
import { useAccount, useIsOperator } from '../../../api/session.ts';
import { useFilters } from '../../../ui/lists/filters.tsx';
import { DownloadButton } from '../../../ui/controls/download-button.tsx';
import type { TaskFilter } from './task-filters.tsx';
import { tasksText } from '../tasks-text.ts';

/** The tasks that the list shows, from all of its pages, as a file. */
export function ExportTasks({ filters }: { readonly filters: readonly TaskFilter[] }) {
  const isOperator = useIsOperator();
  const { accountId } = useAccount();
  const { query } = useFilters(filters);
  const path = isOperator ? '/api/admin/v1/tasks/export' : '/api/v1/jobs/exportTasks';
  const address = `${path}${searchOf(query)}`;
  const account = isOperator ? undefined : accountId;
  return <DownloadButton address={address} account={account} name="tasks.csv" label={tasksText.csv} />;
}
