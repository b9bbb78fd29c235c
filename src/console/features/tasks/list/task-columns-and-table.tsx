import { Link } from 'wouter-preact';
import type { TaskRecord } from '../../../api/contract.ts';
import { accountPages } from '../../../pages.ts';
import { StateWithDot } from '../../../ui/controls/badge-and-state-dot.tsx';
import { shortId } from '../../../ui/controls/short-id.ts';
import { formatNumber } from '../../../ui/number-formats.tsx';
import { useUrlParameters } from '../../../ui/lists/filter-bar-and-url-parameters.tsx';
import { type Column, Table } from '../../../ui/lists/table.tsx';
import { Time } from '../../../ui/times-and-durations.tsx';
import { AccountLink } from '../../accounts/account-link.tsx';
import { Poster } from '../poster.tsx';
import { describeFailCode, wordAndToneOfTask, tasksText } from '../tasks-text.ts';
import { type ListedTaskRow } from '../detail/use-task.ts';
import { useTaskPagePaths } from '../detail/use-task-page-paths.ts';

const { columns: titles } = tasksText;

export const taskColumns: readonly Column<ListedTaskRow>[] = [
  { title: titles.task, kind: 'head', cell: (task) => <TaskHead task={task} /> },
  { title: titles.state, kind: 'shrink', cell: (task) => <TaskState task={task} /> },
  { title: titles.model, kind: 'shrink', isMinor: true, cell: ({ model }) => <code>{model}</code> },
  { title: titles.length, kind: 'end', cell: ({ param }) => `${param.input.duration}\u00A0s` },
  { title: titles.credits, kind: 'end', cell: (task) => <TaskCost task={task} /> },
  { title: titles.created, kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
];

export const accountAndCreatorColumn: Column<ListedTaskRow> = {
  title: tasksText.account,
  cell: ({ operator, createdBy }) =>
    operator && (
      <>
        <AccountLink accountId={operator.accountId} name={operator.accountName} />
        {createdBy && (
          <small class="under">
            <CreatorLink of={createdBy} />
          </small>
        )}
      </>
    ),
};

/** Links lead to all tasks of the same key or person. */
export const createdByColumn: Column<ListedTaskRow> = {
  title: titles.createdBy,
  isMinor: true,
  cell: ({ createdBy }) => createdBy && <CreatorLink of={createdBy} />,
};

function CreatorLink({ of: { id, name } }: { readonly of: NonNullable<ListedTaskRow['createdBy']> }) {
  const { hrefWith } = useUrlParameters();
  return (
    <Link href={hrefWith({ createdBy: id })} class="above creator truncate" title={tasksText.onlyOf(name ?? id)}>
      <bdi>{name ?? shortId(id)}</bdi>
    </Link>
  );
}

/** Tasks that were read elsewhere, such as the latest ones on an overview. */
export function TaskTable({ tasks }: { readonly tasks: readonly ListedTaskRow[] | undefined }) {
  return (
    <Table
      caption={accountPages.tasks.title}
      rows={tasks}
      isLinked
      rowKey={({ taskId }) => taskId}
      columns={taskColumns}
    />
  );
}

function TaskHead({ task }: { readonly task: ListedTaskRow }) {
  const { of } = useTaskPagePaths();
  return (
    <span class="film-cell">
      <Poster url={task.posterUrl} task={task} />
      <Link href={of(task.taskId)} class="row-link prompt" dir="auto">
        {task.param.input.prompt || tasksText.withoutPrompt}
      </Link>
    </span>
  );
}

/** The state, for failures with their reason. */
function TaskState({ task }: { readonly task: TaskRecord }) {
  const { state, progress, failCode } = task;
  const { word, tone } = wordAndToneOfTask(task);
  const reason = failCode === null ? word : describeFailCode(failCode).title;
  return (
    <span>
      <StateWithDot tone={tone}>
        {word}
        {state === 'generating' && <span class="number faint">{progress}&nbsp;%</span>}
      </StateWithDot>
      {reason !== word && <small class="under">{reason}</small>}
    </span>
  );
}

function TaskCost({ task: { creditsCharged, creditsRefunded } }: { readonly task: TaskRecord }) {
  if (creditsRefunded === 0) return <>{formatNumber(creditsCharged)}</>;
  return (
    <span title={tasksText.costOf(creditsCharged, creditsRefunded)}>
      <s class="faint">{formatNumber(creditsCharged)}</s> {formatNumber(creditsCharged - creditsRefunded)}
    </span>
  );
}
