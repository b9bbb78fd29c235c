import { useState } from 'preact/hooks';
import type { Waiting } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { StateWithDot, WordWithDot } from '../../ui/controls/badge-and-state-dot.tsx';
import { OperatorViewAwareButton } from '../../ui/forms/operator-view-aware-button.tsx';
import { shortId } from '../../ui/controls/short-id.ts';
import { Empty } from '../../ui/feedback/empty.tsx';
import { CircleCheck } from '../../ui/controls/icons.ts';
import { Loaded } from '../../ui/feedback/loaded-or-read-error.tsx';
import { formatNumber } from '../../ui/number-formats.tsx';
import { Page } from '../../ui/page-card-facts-and-tiles.tsx';
import { TableCard } from '../../ui/lists/table-card.tsx';
import { formatDuration, relativeTime, useNow } from '../../ui/times-and-durations.tsx';
import { AccountLink } from '../accounts/account-link.tsx';
import { TaskLink } from '../tasks/task-link.tsx';
import { RetryProviderDialog, RetryTaskDialog } from './retry-dialogs.tsx';
import { describeWaitingReason, waitingText } from './waiting-text.ts';

export function WaitingTasksPage() {
  const waiting = useRead('/api/admin/v1/waiting', {}, { everyMs: 5000 });
  // The dialogs belong to the page: another read may remove the row whose button opened one.
  const [provider, setProvider] = useState<string>();
  const [taskId, setTaskId] = useState<string>();
  return (
    <Page lead={waitingText.lead}>
      <Loaded of={waiting} heights={[240]}>
        {({ groups, tasks, accounts }) =>
          groups.length === 0 ? (
            <Empty icon={CircleCheck} title={waitingText.empty} text={waitingText.emptyAdvice} />
          ) : (
            <>
              <Groups groups={groups} onRetry={setProvider} />
              <Tasks tasks={tasks} onRetry={setTaskId} />
              <Accounts accounts={accounts} />
            </>
          )
        }
      </Loaded>
      {provider !== undefined && <RetryProviderDialog provider={provider} onClose={() => setProvider(undefined)} />}
      {taskId !== undefined && <RetryTaskDialog taskId={taskId} onClose={() => setTaskId(undefined)} />}
    </Page>
  );
}

type Cause = Pick<Waiting['groups'][number], 'reason' | 'coolingReason'>;

function Reason({ cause: { reason, coolingReason } }: { readonly cause: Cause }) {
  const { word, tone, help } = describeWaitingReason(reason);
  return (
    <>
      <StateWithDot tone={tone}>{word}</StateWithDot>
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

type GroupsProps = Pick<Waiting, 'groups'> & { readonly onRetry: (provider: string) => void };

function Groups({ groups, onRetry }: GroupsProps) {
  return (
    <TableCard
      title={waitingText.reasons}
      rows={groups}
      rowKey={({ reason, pool, coolingReason }) => `${reason} ${pool} ${coolingReason}`}
      columns={[
        { title: waitingText.reason, kind: 'head', cell: (group) => <Reason cause={group} /> },
        {
          title: waitingText.provider,
          cell: ({ pool }) => (pool === null ? waitingText.none : <code>{pool}</code>),
        },
        { title: waitingText.tasks, kind: 'end', cell: ({ tasks }) => formatNumber(tasks) },
        { title: waitingText.oldest, kind: 'end', cell: ({ oldestMs }) => formatDuration(oldestMs) },
        { title: waitingText.next, kind: 'end', cell: ({ nextTime }) => <Next ms={nextTime} /> },
        {
          title: waitingText.retry,
          kind: 'actions',
          cell: ({ provider, reason }) =>
            provider !== null &&
            reason !== 'provider_disabled' && (
              <RetryButton label={waitingText.retryOf(provider)} onRetry={() => onRetry(provider)} />
            ),
        },
      ]}
    />
  );
}

type TasksProps = Pick<Waiting, 'tasks'> & { readonly onRetry: (taskId: string) => void };

function Tasks({ tasks, onRetry }: TasksProps) {
  return (
    <TableCard
      title={waitingText.oldestTasks}
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
          cell: ({ reason }) => <WordWithDot of={describeWaitingReason(reason)} />,
        },
        { title: waitingText.age, kind: 'end', cell: ({ ageMs }) => formatDuration(ageMs) },
        { title: waitingText.next, kind: 'end', cell: ({ nextTime }) => <Next ms={nextTime} /> },
        {
          title: waitingText.retry,
          kind: 'actions',
          cell: ({ taskId, nextTime, reason }) =>
            nextTime !== null &&
            reason !== 'provider_disabled' && (
              <RetryButton label={waitingText.retryOfTask(shortId(taskId))} onRetry={() => onRetry(taskId)} />
            ),
        },
      ]}
    />
  );
}

type RetryProps = { readonly label: string; readonly onRetry: () => void };

function RetryButton({ label, onRetry }: RetryProps) {
  return (
    <OperatorViewAwareButton size="small" aria-label={label} onClick={onRetry}>
      {waitingText.retry}
    </OperatorViewAwareButton>
  );
}

function Accounts({ accounts }: Pick<Waiting, 'accounts'>) {
  return (
    <TableCard
      title={waitingText.accounts}
      rows={accounts}
      rowKey={({ accountId }) => accountId}
      columns={[
        {
          title: waitingText.account,
          kind: 'head',
          cell: ({ accountId, accountName }) => <AccountLink accountId={accountId} name={accountName} />,
        },
        { title: waitingText.tasks, kind: 'end', cell: ({ tasks }) => formatNumber(tasks) },
        { title: waitingText.oldest, kind: 'end', cell: ({ oldestMs }) => formatDuration(oldestMs) },
      ]}
    />
  );
}
