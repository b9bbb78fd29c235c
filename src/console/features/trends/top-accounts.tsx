import { useState } from 'preact/hooks';
import type { Trends } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { Empty } from '../../ui/feedback/empty.tsx';
import { FilterSelect } from '../../ui/forms/form-fields.tsx';
import { Building2 } from '../../ui/controls/icons.ts';
import { formatNumber } from '../../ui/number-formats.tsx';
import { TableCard } from '../../ui/lists/table-card.tsx';
import { AccountLink } from '../accounts/account-link.tsx';
import { trendsText } from './trends-text.ts';

const orders = (['credits', 'tasks'] as const).map((value) => ({ value, label: trendsText.orders[value] }));

/** The accounts with the most use in the range. */
export function TopAccounts({ range }: Pick<Trends, 'range'>) {
  const [by, setBy] = useState<(typeof orders)[number]['value']>('credits');
  const query = { range, by };
  const top = useRead('/api/admin/v1/accounts/top', query, { everyMs: 60_000, keeps: true });
  return (
    <TableCard
      title={trendsText.topAccounts}
      actions={<FilterSelect label={trendsText.by} value={by} options={orders} onValue={setBy} />}
      of={top}
      none={<Empty icon={Building2} title={trendsText.noAccounts} text={trendsText.noAccountsAdvice} />}
      rows={top.data?.accounts}
      rowKey={({ accountId }) => accountId}
      columns={[
        {
          title: trendsText.account,
          kind: 'head',
          cell: ({ accountId, accountName }) => <AccountLink accountId={accountId} name={accountName} />,
        },
        { title: trendsText.credits, kind: 'end', cell: ({ credits }) => formatNumber(credits) },
        { title: trendsText.created, kind: 'end', cell: ({ tasks }) => formatNumber(tasks) },
        { title: trendsText.succeeded, kind: 'end', cell: ({ succeeded }) => formatNumber(succeeded) },
      ]}
    />
  );
}
