import { Users } from '../../ui/icons.ts';
import type { Account } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { StateDot } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { roleWord } from '../../words.ts';
import { InviteButton } from './invite.tsx';

/** Who signs in to the account, and as what. */
export function AccountMembers({ account: { accountId, name, closeTime } }: { readonly account: Account }) {
  const { data, error, refetch } = useRead('/api/admin/v1/people', { accountId, limit: 100 });
  if (data === undefined && error !== null)
    return <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />;
  return (
    <div class="stack">
      {closeTime === null && (
        <div class="row apart">
          <p class="soft">Owners invite and remove members themselves.</p>
          <InviteButton account={{ accountId, name }} />
        </div>
      )}
      {data?.people.length === 0 ? (
        <Empty icon={Users} title={closeTime === null ? 'No members yet' : 'No members any more'}>
          <p>Nobody can open this account in the console.{closeTime === null && ' Invite its owner.'}</p>
        </Empty>
      ) : (
        <Table
          caption="Members"
          rows={data?.people}
          rowKey={({ userId }) => userId}
          columns={[
            { title: 'E-mail', kind: 'head', cell: ({ email }) => <bdi>{email}</bdi> },
            {
              title: 'Role',
              cell: ({ accounts }) => {
                const role = accounts.find((one) => one.accountId === accountId)?.role;
                return role === undefined ? '–' : roleWord(role);
              },
            },
            {
              title: 'State',
              cell: ({ isDisabled }) =>
                isDisabled ? <StateDot tone="bad">Disabled</StateDot> : <StateDot tone="good">Active</StateDot>,
            },
            {
              title: 'Last sign-in',
              kind: 'end',
              cell: ({ lastSignInTime }) => (lastSignInTime === null ? 'never' : <Time ms={lastSignInTime} />),
            },
          ]}
        />
      )}
    </div>
  );
}
