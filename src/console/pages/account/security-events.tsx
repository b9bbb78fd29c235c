import type { Answer } from '../../api/call.ts';
import { type ApiProblem, failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { Pager, useAddress } from '../../ui/pager.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { eventWord } from '../../words.ts';
import { deviceOf } from './device.ts';

/** Sign-ins, links, roles and ended sessions of the account's people. */
export function SecurityEvents({ isFailureSaid }: { readonly isFailureSaid: boolean }) {
  const { get } = useAddress();
  const cursor = get('cursor');
  const query = { limit: 20, ...(cursor !== undefined && { cursor }) };
  const { data, error, refetch } = useRead('/api/console/v1/events', query, { keeps: true });
  if (isFailureSaid && error !== null && data === undefined) return null;
  return <EventsCard data={data} error={error} onRetry={() => void refetch()} />;
}

type EventsProps = {
  readonly data: Answer<'/api/console/v1/events'> | undefined;
  readonly error: ApiProblem | null;
  readonly onRetry: () => void;
};

export function EventsCard({ data, error, onRetry }: EventsProps) {
  return (
    <Card title="Security events" isFlush>
      {error !== null && data === undefined ? (
        <div class="body">
          <ErrorBox failure={failureOf(error)} onRetry={onRetry} />
        </div>
      ) : data?.events.length === 0 ? (
        <p class="body faint">Nothing yet.</p>
      ) : (
        <Table
          caption="Security events, newest first"
          rows={data?.events}
          rowKey={({ eventId }) => eventId}
          columns={[
            { title: 'What', kind: 'head', cell: ({ kind }) => eventWord(kind) },
            {
              title: 'Who',
              isWide: true,
              cell: ({ email, actor }) => (actor === null ? (email ?? '–') : `${email ?? '–'}, by ${actor}`),
            },
            {
              title: 'From',
              cell: ({ address, userAgent }) => [address, deviceOf(userAgent)].filter(Boolean).join(', ') || '–',
            },
            { title: 'When', kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
          ]}
        />
      )}
      <div class="pager-box">
        <Pager nextCursor={data?.nextCursor} what="events" />
      </div>
    </Card>
  );
}
