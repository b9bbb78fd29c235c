import { Webhook } from '../../ui/icons.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { StateDot } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager, useAddress } from '../../ui/pager.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { callbackWord } from '../../words.ts';
import { RedeliverButton } from './redeliver.tsx';
import { AccountLink, TaskLink } from './references.tsx';

/** Callbacks that are attempted no more, of every account. */
export function CallbacksPage() {
  const cursor = useAddress().get('cursor');
  const { data, error, refetch } = useRead(
    '/api/admin/v1/callbacks/failed',
    { cursor, limit: 50 },
    { keeps: true, everyMs: 15_000 },
  );
  const rows = data?.callbacks.filter((delivery) => delivery !== null);
  return (
    <Page
      title="Failed callbacks"
      lead="No receiver took them, and no attempt follows until somebody sends them again."
    >
      {data === undefined && error !== null ? (
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      ) : rows?.length === 0 ? (
        <Empty icon={Webhook} title="No failed callbacks">
          <p>Every receiver has taken its messages, or is still attempted.</p>
        </Empty>
      ) : (
        <Table
          caption="Failed callbacks"
          rows={rows}
          rowKey={({ taskId }) => taskId}
          columns={[
            { title: 'Task', kind: 'head', cell: ({ taskId }) => <TaskLink taskId={taskId} /> },
            { title: 'Account', cell: ({ accountId }) => <AccountLink accountId={accountId} /> },
            {
              title: 'State',
              cell: ({ state }) => <StateDot tone={callbackWord(state).tone}>{callbackWord(state).word}</StateDot>,
            },
            { title: 'Receiver', isWide: true, cell: ({ url }) => <bdi>{url}</bdi> },
            {
              title: 'Given up',
              kind: 'end',
              cell: ({ completeTime }) => (completeTime === null ? '–' : <Time ms={completeTime} />),
            },
            { title: 'Actions', kind: 'actions', cell: ({ taskId }) => <RedeliverButton taskId={taskId} /> },
          ]}
        />
      )}
      <Pager nextCursor={data?.nextCursor} what="failed callbacks" />
    </Page>
  );
}
