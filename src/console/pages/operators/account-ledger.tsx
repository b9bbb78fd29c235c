import { Coins } from '../../ui/icons.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { Empty } from '../../ui/empty.tsx';
import { Change, number, PriceName } from '../../ui/money.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Pager, useAddress } from '../../ui/pager.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { ledgerWord, type ledgerWords } from '../../words.ts';
import { TaskLink } from './references.tsx';

/** Every entry with the balance after it, newest first. */
export function AccountLedger({ accountId }: { readonly accountId: string }) {
  const cursor = useAddress().get('cursor');
  const { data, error, refetch } = useRead(
    '/api/admin/v1/credits',
    { accountId, cursor, limit: 50 },
    { keeps: true, everyMs: 15_000 },
  );
  if (data === undefined && error !== null)
    return <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />;
  if (data?.entries.length === 0) {
    return (
      <Empty icon={Coins} title="Nothing was booked yet">
        <p>Grants, charges, refunds and adjustments stand here, each with the balance after it.</p>
      </Empty>
    );
  }
  return (
    <div class="stack">
      <Table
        caption="Ledger"
        rows={data?.entries}
        rowKey={({ entryId }) => entryId}
        columns={[
          { title: 'Entry', kind: 'head', cell: ({ kind, entryId }) => <EntryName kind={kind} entryId={entryId} /> },
          {
            title: 'For',
            cell: ({ taskId, reason, priceName }) =>
              taskId === null ? (
                <bdi>{reason}</bdi>
              ) : (
                <>
                  <TaskLink taskId={taskId} />
                  <PriceName name={priceName} />
                </>
              ),
          },
          { title: 'Credits', kind: 'end', cell: ({ amount }) => <Change amount={amount} /> },
          { title: 'Balance after', kind: 'end', cell: ({ balanceAfter }) => number(balanceAfter) },
          { title: 'When', kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
        ]}
      />
      <Pager nextCursor={data?.nextCursor} what="the ledger" />
    </div>
  );
}

function EntryName({ kind, entryId }: { readonly kind: keyof typeof ledgerWords; readonly entryId: number }) {
  return (
    <span class="nowrap">
      {ledgerWord(kind)} <span class="faint number">#{entryId}</span>
    </span>
  );
}
