import type { Person } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useMe } from '../../api/session.ts';
import type { Filter } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { useUrlParameters } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { Users } from '../../ui/controls/icons.ts';
import { List } from '../../ui/lists/list.tsx';
import { Page } from '../../ui/page-card-facts-and-tiles.tsx';
import { TabLinks } from '../../ui/controls/tab-links.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { actionColumnProps } from '../../ui/lists/table.tsx';
import { roleWord } from './role-text.ts';
import { AccountLink } from '../accounts/account-link.tsx';
import { SecurityEvents } from '../security/security-events.tsx';
import { UnconfirmedSignUps } from '../sign-up/unconfirmed-sign-ups.tsx';
import { Invitations } from './invitations.tsx';
import { InviteButton } from './invite-dialog.tsx';
import { peopleText } from './people-text.ts';
import { PersonAdminMenu } from './person-admin-menu.tsx';
import { PersonEmail, PersonState } from './person-email-and-state.tsx';

/** For operators: everyone who signs in, and the security events of all accounts. */
export function AllPeoplePage() {
  const { get, hrefWith } = useUrlParameters();
  const isEvents = get('tab') === 'events';
  const tabs = [
    { label: peopleText.people, href: hrefWith({ tab: undefined }), isCurrent: !isEvents },
    { label: peopleText.events, href: hrefWith({ tab: 'events', search: undefined }), isCurrent: isEvents },
  ];
  return (
    <Page lead={peopleText.lead} actions={<InviteButton isOperator />}>
      <TabLinks label={peopleText.tabs} tabs={tabs} />
      {isEvents ? <SecurityEvents path="/api/admin/v1/people/events" /> : <People />}
    </Page>
  );
}

const filters: readonly Filter<{ search?: string | undefined }>[] = [
  { name: 'search', label: peopleText.search, query: (search) => ({ search }) },
];

function People() {
  const { data: me } = useMe();
  return (
    <>
      <List
        noun={peopleText.noun}
        path="/api/admin/v1/people"
        query={{ limit: 50 }}
        filters={filters}
        rows={({ people }) => people}
        rowKey={({ userId }) => userId}
        empty={{ icon: Users, title: peopleText.empty, text: peopleText.emptyAdvice }}
        columns={[
          { title: peopleText.email, kind: 'head', cell: (person) => <PersonEmail person={person} /> },
          { title: peopleText.state, cell: (person) => <PersonState person={person} /> },
          { title: peopleText.accounts, isWide: true, cell: ({ operator }) => <Accounts {...operator} /> },
          { title: peopleText.lastSeen, kind: 'end', cell: ({ lastUseTime }) => <Time ms={lastUseTime} /> },
          {
            ...actionColumnProps,
            cell: (person) => <PersonAdminMenu person={person} isSelf={person.userId === me?.user.userId} />,
          },
        ]}
      />
      <OperatorInvitations />
      <UnconfirmedSignUps />
    </>
  );
}

const shown = 3;

function Accounts({ accounts }: Pick<Person['operator'], 'accounts'>) {
  if (accounts.length === 0) return <span class="faint">{peopleText.noAccounts}</span>;
  return (
    <ul>
      {accounts.slice(0, shown).map(({ accountId, name, role }) => (
        <li key={accountId}>
          <AccountLink accountId={accountId} name={name} /> <small class="faint">{roleWord(role).toLowerCase()}</small>
        </li>
      ))}
      {accounts.length > shown && <li class="faint">{peopleText.moreAccounts(accounts.length - shown)}</li>}
    </ul>
  );
}

function OperatorInvitations() {
  const { data } = useRead('/api/admin/v1/people/invitations', {});
  return <Invitations title={peopleText.operatorInvitations} invitations={data?.invitations ?? []} isOperator />;
}
