import { Film } from '../../ui/icons.ts';
import type { Answer, Query } from '../../api/call.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { Empty } from '../../ui/empty.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { NewRows } from '../../ui/new-rows.tsx';
import { Pager, useAddress } from '../../ui/pager.tsx';
import { useSteadyList } from '../../ui/steady-list.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { Poster } from '../account/poster.tsx';
import { TaskCost, TaskState } from '../account/task-table.tsx';
import { isLive } from '../account/use-task.ts';
import { AccountLink, TaskLink } from './references.tsx';

type Listed = Answer<'/api/admin/v1/tasks'>['tasks'][number];

type Props = {
  readonly filter: Omit<Query<'/api/admin/v1/tasks'>, 'cursor' | 'limit'>;
  /** On the page of one account, which needs no column for it. */
  readonly isOfAccount?: boolean;
};

/** Tasks, newest first; read again often while one of them is unfinished. */
export function TaskTable({ filter, isOfAccount }: Props) {
  const { get } = useAddress();
  const query = { ...filter, cursor: get('cursor'), limit: 50 };
  const {
    data,
    error,
    refetch,
    isPlaceholderData: isOfBefore,
  } = useRead('/api/admin/v1/tasks', query, {
    keeps: true,
    everyMs: (page) => (page?.tasks.some(({ task }) => isLive(task)) === true ? 3000 : 15_000),
  });
  // The time from which on tasks are shown goes on; that is no other filter.
  const list = { rows: data?.tasks, isOfBefore };
  const shownFilter = JSON.stringify({ ...query, from: undefined, hours: get('hours') });
  const { rows, added, showAdded } = useSteadyList(list, ({ task }) => task.taskId, shownFilter);
  if (data === undefined && error !== null)
    return <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />;
  if (rows?.length === 0) {
    return (
      <Empty icon={Film} title="No tasks">
        <p>{isOfAccount === true ? 'This account has created none yet.' : 'None match these filters.'}</p>
      </Empty>
    );
  }
  return (
    <div class="stack">
      <NewRows added={added} one="new task" many="new tasks" onShow={showAdded}>
        <Table
          caption="Tasks"
          rows={rows}
          rowKey={({ task }) => task.taskId}
          isLinked
          expected={8}
          columns={isOfAccount === true ? columns.filter(({ title }) => title !== 'Account') : columns}
        />
      </NewRows>
      <Pager nextCursor={data?.nextCursor} what="tasks" />
    </div>
  );
}

const columns: readonly Column<Listed>[] = [
  {
    title: 'Task',
    kind: 'head',
    cell: ({ task }) => (
      <span class="film-cell small">
        <Poster url={task.posterUrl} task={task} />
        <TaskLink taskId={task.taskId} isRow>
          {task.param.input.prompt}
        </TaskLink>
      </span>
    ),
  },
  { title: 'Account', cell: ({ accountId }) => <AccountLink accountId={accountId} /> },
  { title: 'State', kind: 'shrink', cell: ({ task }) => <TaskState task={task} /> },
  { title: 'Model', kind: 'shrink', cell: ({ task }) => <code>{task.model}</code> },
  { title: 'Credits', kind: 'end', cell: ({ task }) => <TaskCost task={task} /> },
  { title: 'Created', kind: 'end', cell: ({ task }) => <Time ms={task.createTime} /> },
];
