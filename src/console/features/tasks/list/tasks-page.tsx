import { useAccount, useIsOperatorPage } from '../../../api/session.ts';
import { accountPaths } from '../../../paths.ts';
import { LinkButton } from '../../../ui/controls/button.tsx';
import { Plus } from '../../../ui/controls/icons.ts';
import { Page } from '../../../ui/page-card-facts-and-tiles.tsx';
import { ExportTasks } from './export-tasks.tsx';
import { useTaskFilters } from './task-filters.tsx';
import { TaskList } from './task-list.tsx';
import { tasksText } from '../tasks-text.ts';

export function TasksPage() {
  const { accountId } = useAccount();
  const isOperator = useIsOperatorPage();
  const filters = useTaskFilters();
  return (
    <Page
      lead={isOperator ? tasksText.leadOfOperators : tasksText.lead}
      actions={
        <>
          <ExportTasks filters={filters} />
          {!isOperator && (
            <LinkButton href={accountPaths.playground(accountId)} variant="primary">
              <Plus size={16} aria-hidden="true" /> {tasksText.newVideo}
            </LinkButton>
          )}
        </>
      }
    >
      <TaskList filters={filters} />
    </Page>
  );
}
