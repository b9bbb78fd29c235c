import { Link } from 'wouter-preact';
import type { TaskRecord } from '../../api/contract.ts';
import { useAccount } from '../../api/session.ts';
import { paths } from '../../paths.ts';
import { StateDot } from '../../ui/badge.tsx';
import { number } from '../../ui/money.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { failWord, taskWord } from '../../words.ts';
import { Poster } from './poster.tsx';

/** A task of a list: its record, and the picture that only lists show. */
export type ListedTask = TaskRecord & { readonly posterUrl?: string | null | undefined };

export function TaskTable({
  tasks,
  expected,
}: {
  readonly tasks: readonly ListedTask[] | undefined;
  readonly expected?: number;
}) {
  const { accountId } = useAccount();
  return (
    <Table
      caption="Tasks"
      rows={tasks}
      isLinked
      rowKey={({ taskId }) => taskId}
      {...(expected !== undefined && { expected })}
      columns={[
        {
          title: 'Task',
          kind: 'head',
          cell: (task) => (
            <span class="film-cell">
              <Poster url={task.posterUrl} task={task} />
              <Link href={paths.task(accountId, task.taskId)} class="row-link prompt" dir="auto">
                {task.param.input.prompt}
              </Link>
            </span>
          ),
        },
        { title: 'State', kind: 'shrink', cell: (task) => <TaskState task={task} /> },
        { title: 'Model', kind: 'shrink', isMinor: true, cell: ({ model }) => <code>{model}</code> },
        { title: 'Length', kind: 'end', cell: ({ param }) => `${param.input.duration}\u00A0s` },
        { title: 'Credits', kind: 'end', cell: (task) => <TaskCost task={task} /> },
        { title: 'Created', kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
      ]}
    />
  );
}

export function TaskState({ task }: { readonly task: TaskRecord }) {
  const { state, progress, failCode } = task;
  const { word, tone } = taskWord(task);
  return (
    <span>
      <StateDot tone={tone}>
        {word}
        {state === 'generating' && <span class="number faint">{progress}&nbsp;%</span>}
      </StateDot>
      {failCode !== null && failWord(failCode).title !== word && (
        <small class="under">{failWord(failCode).title}</small>
      )}
    </span>
  );
}

export function TaskCost({ task: { creditsCharged, creditsRefunded } }: { readonly task: TaskRecord }) {
  if (creditsRefunded === 0) return <>{number(creditsCharged)}</>;
  return (
    <span title={`${number(creditsCharged)} charged, ${number(creditsRefunded)} refunded`}>
      <s class="faint">{number(creditsCharged)}</s> {number(creditsCharged - creditsRefunded)}
    </span>
  );
}
