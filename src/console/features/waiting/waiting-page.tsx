import type { Waiting } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { StateDot } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { CircleCheck } from '../../ui/icons.ts';
import { number } from '../../ui/money.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { duration, relativeTime, useNow } from '../../ui/time.tsx';
import { AccountLink } from '../accounts/account-link.tsx';
import { TaskLink } from '../tasks/task-link.tsx';
import { RetryProvider, RetryTask } from './retry-buttons.tsx';
import { reasonWord, waitingText } from './waiting-text.ts';

export function WaitingPage() {
  const { data, error, refetch } = useRead('/api/admin/v1/waiting', {}, { everyMs: 5000 });
  return (
    <Page lead={waitingText.lead}>
      {data === undefined ? (
        error === null ? (
          <Skeleton height="240px" />
        ) : (
          <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
        )
      ) : data.groups.length === 0 ? (
        <Empty icon={CircleCheck} title={waitingText.empty}>
          <p>{waitingText.emptyAdvice}</p>
        </Empty>
      ) : (
        <>
          <Groups groups={data.groups} />
          <Tasks tasks={data.tasks} />
          <Accounts accounts={data.accounts} />
        </>
      )}
    </Page>
  );
}

type Cause = Pick<Waiting['groups'][number], 'reason' | 'coolingReason'>;

function Reason({ cause: { reason, coolingReason } }: { readonly cause: Cause }) {
  const { word, tone, help } = reasonWord(reason);
  return (
    <>
      <StateDot tone={tone}>{word}</StateDot>
      <small class="under">{coolingReason === null ? help : `${help} (${coolingReason})`}</small>
    </>
  );
}

/** A pause that is over ends when a worker polls next. */
function Next({ ms }: { readonly ms: number | null }) {
  const now = useNow(1000);
  if (ms === null) return <>{waitingText.none}</>;
  return <span class="nowrap">{ms <= now ? waitingText.due : relativeTime(ms - now)}</span>;
}

function Groups({ groups }: Pick<Waiting, 'groups'>) {
  return (
    <Card title={waitingText.reasons} isFlush>
      <Table
        caption={waitingText.reasons}
        rows={groups}
        rowKey={({ reason, pool, coolingReason }) => `${reason} ${pool} ${coolingReason}`}
        columns={[
          { title: waitingText.reason, kind: 'head', cell: (group) => <Reason cause={group} /> },
          {
            title: waitingText.provider,
            cell: ({ pool }) => (pool === null ? waitingText.none : <code>{pool}</code>),
          },
          { title: waitingText.tasks, kind: 'end', cell: ({ tasks }) => number(tasks) },
          { title: waitingText.oldest, kind: 'end', cell: ({ oldestMs }) => duration(oldestMs) },
          { title: waitingText.next, kind: 'end', cell: ({ nextTime }) => <Next ms={nextTime} /> },
          {
            title: waitingText.retry,
            kind: 'actions',
            cell: ({ provider, reason }) =>
              provider !== null && reason !== 'provider_disabled' && <RetryProvider provider={provider} />,
          },
        ]}
      />
    </Card>
  );
}

function Tasks({ tasks }: Pick<Waiting, 'tasks'>) {
  return (
    <Card title={waitingText.oldestTasks} isFlush>
      <Table
        caption={waitingText.oldestTasks}
        rows={tasks}
        rowKey={({ taskId }) => taskId}
        columns={[
          {
            title: waitingText.task,
            kind: 'head',
            cell: ({ taskId, model }) => (
              <>
                <TaskLink taskId={taskId} />
                <small class="under">{model}</small>
              </>
            ),
          },
          {
            title: waitingText.account,
            cell: ({ accountId, accountName }) => <AccountLink accountId={accountId} name={accountName} />,
          },
          {
            title: waitingText.reason,
            cell: ({ reason }) => <StateDot tone={reasonWord(reason).tone}>{reasonWord(reason).word}</StateDot>,
          },
          { title: waitingText.age, kind: 'end', cell: ({ ageMs }) => duration(ageMs) },
          { title: waitingText.next, kind: 'end', cell: ({ nextTime }) => <Next ms={nextTime} /> },
          {
            title: waitingText.retry,
            kind: 'actions',
            cell: ({ taskId, nextTime, reason }) =>
              nextTime !== null && reason !== 'provider_disabled' && <RetryTask taskId={taskId} />,
          },
        ]}
      />
    </Card>
  );
}

function Accounts({ accounts }: Pick<Waiting, 'accounts'>) {
  return (
    <Card title={waitingText.accounts} isFlush>
      <Table
        caption={waitingText.accounts}
        rows={accounts}
        rowKey={({ accountId }) => accountId}
        columns={[
          {
            title: waitingText.account,
            kind: 'head',
            cell: ({ accountId, accountName }) => <AccountLink accountId={accountId} name={accountName} />,
          },
          { title: waitingText.tasks, kind: 'end', cell: ({ tasks }) => number(tasks) },
          { title: waitingText.oldest, kind: 'end', cell: ({ oldestMs }) => duration(oldestMs) },
        ]}
      />
    </Card>
  );
}
