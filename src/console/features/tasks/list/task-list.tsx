import { useState } from 'preact/hooks';
import { useAccount, useIsOperatorPage, useNotAllowedReason } from '../../../api/session.ts';
import { accountPaths } from '../../../paths.ts';
import { Button, LinkButton } from '../../../ui/controls/button.tsx';
import { CodeBlock } from '../../../ui/controls/code-block.tsx';
import { Ban, Film } from '../../../ui/controls/icons.ts';
import { List } from '../../../ui/lists/list.tsx';
import type { SelectionOptions } from '../../../ui/lists/selection.tsx';
import { useFirstRequestSample } from '../../playground/request-samples.ts';
import { CancelTasksDialog } from './cancel-tasks.tsx';
import type { TaskFilter, TaskListPath } from './task-filters.tsx';
import { accountAndCreatorColumn, createdByColumn, taskColumns } from './task-columns-and-table.tsx';
import { tasksText } from '../tasks-text.ts';
import { isLive, type ListedTaskRow } from '../detail/use-task.ts';

const columns = [...taskColumns, createdByColumn];
const columnsOfOperators = taskColumns.toSpliced(1, 0, accountAndCreatorColumn);

type ListProps = { readonly accountId?: string; readonly filters?: readonly TaskFilter[] };

/** Tasks of the account, or for operators of all accounts or of the one that is given. */
export function TaskList({ accountId, filters }: ListProps) {
  const isOperator = useIsOperatorPage();
  const isOfAll = isOperator && accountId === undefined;
  const path: TaskListPath = isOperator ? '/api/admin/v1/tasks' : '/api/v1/jobs/listTasks';
  const mayCancel = useNotAllowedReason('member') === undefined || isOperator;
  const [cancelling, setCancelling] = useState<readonly ListedTaskRow[]>();
  return (
    <>
      <List
        noun={tasksText.noun}
        path={path}
        query={{ limit: 30, ...(accountId !== undefined && { accountId }) }}
        rows={({ tasks }) => tasks}
        rowKey={({ taskId }) => taskId}
        columns={filters === undefined ? taskColumns : isOfAll ? columnsOfOperators : columns}
        {...(filters !== undefined && { filters })}
        {...(mayCancel && { selection: cancellable(setCancelling) })}
        isLinked
        expected={8}
        everyMs={(page) => (page?.tasks.some(isLive) === false ? 15_000 : 3000)}
        empty={{
          icon: Film,
          title: tasksText.emptyTitle,
          children: isOfAll ? (
            <p>{tasksText.emptyOfAll}</p>
          ) : isOperator ? (
            <p>{tasksText.emptyOfAccount}</p>
          ) : (
            <FirstSteps />
          ),
        }}
      />
      {cancelling !== undefined && <CancelTasksDialog tasks={cancelling} onClose={() => setCancelling(undefined)} />}
    </>
  );
}

function cancellable(onCancel: (tasks: readonly ListedTaskRow[]) => void): SelectionOptions<ListedTaskRow> {
  return {
    canSelect: isLive,
    label: ({ param }) => param.input.prompt,
    actions: (tasks) => (
      <Button size="small" variant="danger" onClick={() => onCancel(tasks)}>
        <Ban size={14} aria-hidden="true" /> {tasksText.cancelMany(tasks.length)}
      </Button>
    ),
  };
}

function FirstSteps() {
  const { accountId } = useAccount();
  return (
    <>
      <p>{tasksText.empty}</p>
      <div class="row">
        <LinkButton href={accountPaths.playground(accountId)} variant="primary">
          {tasksText.firstVideo}
        </LinkButton>
      </div>
      <CodeBlock wraps samples={[useFirstRequestSample()]} />
    </>
  );
}
