import { useAccount, useIsOperator } from '../../api/session.ts';
import { paths } from '../../paths.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Plus } from '../../ui/icons.ts';
import { Page } from '../../ui/page.tsx';
import { TaskList } from './task-list.tsx';
import { tasksText } from './tasks-text.ts';

export function TasksPage() {
  const { accountId } = useAccount();
  const isOperator = useIsOperator();
  return (
    <Page
      title={tasksText.title}
      lead={isOperator ? tasksText.leadOfOperators : tasksText.lead}
      actions={
        !isOperator && (
          <LinkButton href={paths.playground(accountId)} variant="primary">
            <Plus size={16} aria-hidden="true" /> {tasksText.newVideo}
          </LinkButton>
        )
      }
    >
      <TaskList />
    </Page>
  );
}
