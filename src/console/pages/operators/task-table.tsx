import { Film } from 'lucide-preact';
import type { Query } from '../../api/call.ts';
import type { TaskRecord } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { StateDot } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { number } from '../../ui/money.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Pager, useAddress } from '../../ui/pager.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { failWords, stateWords } from '../../words.ts';
import { AccountLink, TaskLink } from './references.tsx';

type Listed = { readonly accountId: string; readonly task: TaskRecord };

type Props = {
  readonly filter: Omit<Query<'/api/admin/v1/tasks'>, 'cursor' | 'limit'>;
  /** On the page of one account, which needs no column for it. */
  readonly isOfAccount?: boolean;
};

/** Tasks, newest first; read again while one of them is unfinished. */
export function TaskTable({ filter, isOfAccount }: Props) {
  const cursor = useAddress().get('cursor');
  const { data, error, refetch } = useRead(
    '/api/admin/v1/tasks',
    { ...filter, cursor, limit: 50 },
    { keeps: true, everyMs: (shown) => (shown?.tasks.some(({ task }) => isLive(task)) === true ? 3000 : 15_000) },
  );
  if (data === undefined && error !== null)
    return <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />;
  if (data?.tasks.length === 0) {
    return (
      <Empty icon={Film} title="No tasks">
        <p>{isOfAccount === true ? 'This account has created none yet.' : 'None match these filters.'}</p>
      </Empty>
    );
  }
  return (
    <div class="stack">
      <Table
        caption="Tasks"
        rows={data?.tasks}
        rowKey={({ task }) => task.taskId}
        isLinked
        columns={isOfAccount === true ? columns.filter(({ title }) => title !== 'Account') : columns}
      />
      <Pager nextCursor={data?.nextCursor} what="tasks" />
    </div>
  );
}

export function isLive({ state }: Pick<TaskRecord, 'state'>): boolean {
  return state !== 'success' && state !== 'fail';
}

const columns: readonly Column<Listed>[] = [
  {
    title: 'Task',
    kind: 'head',
    cell: ({ task }) => (
      <TaskLink taskId={task.taskId} isRow>
        <span class="prompt one" dir="auto">
          {task.param.input.prompt}
        </span>
      </TaskLink>
    ),
  },
  { title: 'Account', cell: ({ accountId }) => <AccountLink accountId={accountId} /> },
  { title: 'State', cell: ({ task }) => <TaskState task={task} /> },
  { title: 'Model', cell: ({ task }) => <code class="nowrap">{task.model}</code> },
  { title: 'Credits', kind: 'end', cell: ({ task }) => number(task.creditsCharged - task.creditsRefunded) },
  { title: 'Created', kind: 'end', cell: ({ task }) => <Time ms={task.createTime} /> },
];

export function TaskState({ task: { state, failCode, progress } }: { readonly task: TaskRecord }) {
  const { word, tone } = stateWords[state];
  const detail =
    failCode !== null
      ? failWords[failCode].title
      : state === 'generating'
        ? `${Math.floor(progress)}\u00A0%`
        : undefined;
  return (
    <>
      <StateDot tone={tone}>{word}</StateDot>
      {detail !== undefined && <small class="sub">{detail}</small>}
    </>
  );
}
