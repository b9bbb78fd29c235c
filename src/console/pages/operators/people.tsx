import { Users, X } from '../../ui/icons.ts';
import type { Person } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead, useSend } from '../../api/queries.ts';
import { useMe } from '../../api/session.ts';
import { Badge, StateDot } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Pager, useAddress } from '../../ui/pager.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { Table } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { roleWord } from '../../words.ts';
import { EventsCard } from '../account/security-events.tsx';
import { InviteButton } from './invite.tsx';
import { PersonActions } from './person-actions.tsx';
import { AccountLink } from './references.tsx';

/** Everybody who signs in, what operators do for them, and what happened to them. */
export function PeoplePage() {
  const { get, hrefWith } = useAddress();
  const isEvents = get('tab') === 'events';
  const tabs = [
    { label: 'People', href: hrefWith({ tab: undefined, cursor: undefined }), isCurrent: !isEvents },
    {
      label: 'Security events',
      href: hrefWith({ tab: 'events', search: undefined, cursor: undefined }),
      isCurrent: isEvents,
    },
  ];
  return (
    <Page title="People" lead="Everybody who signs in to the console." actions={<InviteButton />}>
      <Tabs label="People and events" tabs={tabs} />
      {isEvents ? <Events /> : <People />}
    </Page>
  );
}

function Events() {
  const query = { cursor: useAddress().get('cursor'), limit: 50 };
  const { data, error, refetch } = useRead('/api/admin/v1/people/events', query, { keeps: true });
  return <EventsCard data={data} error={error} onRetry={() => void refetch()} />;
}

function People() {
  const { get, set } = useAddress();
  const { data: me } = useMe();
  const search = get('search');
  const { data, error, refetch } = useRead(
    '/api/admin/v1/people',
    { search, cursor: get('cursor'), limit: 50 },
    { keeps: true },
  );
  return (
    <>
      <div class="filters">
        <SearchField label="Search e-mails" value={search ?? ''} onValue={(value) => set({ search: value })} />
      </div>
      {data === undefined && error !== null ? (
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      ) : data?.people.length === 0 ? (
        <Empty icon={Users} title="Nobody matches">
          <p>Somebody who was invited is listed once they have used their link.</p>
        </Empty>
      ) : (
        <Table
          caption="People"
          rows={data?.people}
          rowKey={({ userId }) => userId}
          columns={[
            {
              title: 'E-mail',
              kind: 'head',
              cell: ({ email, userId }) => (
                <span class="row">
                  <bdi class="strong">{email}</bdi> {userId === me?.user.userId && <Badge>you</Badge>}
                </span>
              ),
            },
            { title: 'State', cell: (person) => <PersonState person={person} /> },
            { title: 'Accounts', isWide: true, cell: ({ accounts }) => <Accounts accounts={accounts} /> },
            {
              title: 'Last sign-in',
              kind: 'end',
              cell: ({ lastSignInTime }) => (lastSignInTime === null ? 'never' : <Time ms={lastSignInTime} />),
            },
            {
              title: 'Actions',
              kind: 'actions',
              cell: (person) => <PersonActions person={person} isSelf={person.userId === me?.user.userId} />,
            },
          ]}
        />
      )}
      <Pager nextCursor={data?.nextCursor} what="people" />
      {data !== undefined && <OperatorInvitations />}
    </>
  );
}

function PersonState({ person: { isOperator, isDisabled } }: { readonly person: Person }) {
  return (
    <span class="row">
      {isDisabled ? <StateDot tone="bad">Disabled</StateDot> : <StateDot tone="good">Active</StateDot>}
      {isOperator && <Badge tone="live">Operator</Badge>}
    </span>
  );
}

const shown = 3;

function Accounts({ accounts }: Pick<Person, 'accounts'>) {
  if (accounts.length === 0) return <span class="faint">none</span>;
  return (
    <ul>
      {accounts.slice(0, shown).map(({ accountId, role }) => (
        <li key={accountId}>
          <AccountLink accountId={accountId} /> <small class="faint">{roleWord(role).toLowerCase()}</small>
        </li>
      ))}
      {accounts.length > shown && <li class="faint">and {accounts.length - shown} more</li>}
    </ul>
  );
}

/** Everybody who has such a link becomes an operator. Shown below the people once their number is known, so that nothing moves. */
function OperatorInvitations() {
  const { data } = useRead('/api/admin/v1/people/invitations', {});
  const withdraw = useSend('/api/admin/v1/people/withdraw', { onDone: () => toast('The invitation is withdrawn') });
  if (data === undefined || data.invitations.length === 0) return null;
  return (
    <Card title="Open invitations of operators" isFlush>
      <Table
        caption="Open invitations of operators"
        rows={data.invitations}
        rowKey={({ linkId }) => linkId}
        columns={[
          { title: 'E-mail', kind: 'head', cell: ({ email }) => <bdi>{email}</bdi> },
          {
            title: 'Account',
            cell: ({ accountId }) =>
              accountId === null ? <span class="faint">none</span> : <AccountLink accountId={accountId} />,
          },
          { title: 'Expires', kind: 'end', cell: ({ expireTime }) => <Time ms={expireTime} /> },
          {
            title: 'Actions',
            kind: 'actions',
            cell: ({ linkId, email }) => (
              <Button
                size="small"
                aria-label={`Withdraw the invitation of ${email}`}
                onClick={() =>
                  withdraw.mutate({ linkId }, { onError: (error) => toast(failureOf(error).sentence, 'bad') })
                }
              >
                <X size={14} aria-hidden="true" /> Withdraw
              </Button>
            ),
          },
        ]}
      />
    </Card>
  );
}
