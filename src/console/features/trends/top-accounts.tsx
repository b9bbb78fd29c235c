import { useState } from 'preact/hooks';
import type { Trends } from '../../api/contract.ts';
import { useRead } from '../../api/queries.ts';
import { Empty } from '../../ui/feedback/empty.tsx';
import { FilterSelect } from '../../ui/forms/field.tsx';
import { Building2 } from '../../ui/controls/icons.ts';
import { ReadError } from '../../ui/feedback/loaded.tsx';
import { number } from '../../ui/figures.tsx';
import { Card } from '../../ui/page.tsx';
import { Table } from '../../ui/lists/table.tsx';
import { AccountLink } from '../accounts/account-link.tsx';
import { trendsText } from './trends-text.ts';

const orders = (['credits', 'tasks'] as const).map((value) => ({ value, label: trendsText.orders[value] }));

/** The accounts with the most use in the range. */
export function TopAccounts({ range }: Pick<Trends, 'range'>) {
  const [by, setBy] = useState<(typeof orders)[number]['value']>('credits');
  const query = { range, by };
  const top = useRead('/api/admin/v1/accounts/top', query, { everyMs: 60_000, keeps: true });
  const { data } = top;
  return (
    <Card
      title={trendsText.topAccounts}
      isFlush
      actions={<FilterSelect label={trendsText.by} value={by} options={orders} onValue={setBy} />}
    >
      {data === undefined && top.error !== null ? (
        <ReadError of={top} isInset />
      ) : data?.accounts.length === 0 ? (
        <Empty icon={Building2} title={trendsText.noAccounts}>
          <p>{trendsText.noAccountsAdvice}</p>
        </Empty>
      ) : (
        <Table
          caption={trendsText.topAccounts}
          rows={data?.accounts}
          rowKey={({ accountId }) => accountId}
          columns={[
            {
              title: trendsText.account,
              kind: 'head',
              cell: ({ accountId, accountName }) => <AccountLink accountId={accountId} name={accountName} />,
            },
            { title: trendsText.credits, kind: 'end', cell: ({ credits }) => number(credits) },
            { title: trendsText.created, kind: 'end', cell: ({ tasks }) => number(tasks) },
            { title: trendsText.succeeded, kind: 'end', cell: ({ succeeded }) => number(succeeded) },
          ]}
        />
      )}
    </Card>
  );
}
