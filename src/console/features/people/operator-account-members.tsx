import type { Account } from '../../api/contract.ts';
import { Users } from '../../ui/controls/icons.ts';
import { List } from '../../ui/lists/list.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { roleWord } from './role-text.ts';
import { InviteButton } from './invite-dialog.tsx';
import { membersText } from './members-text.ts';
import { PersonEmail, PersonState } from './person-email-and-state.tsx';
import { peopleText } from './people-text.ts';

/** The members of an account, for operators. */
export function OperatorAccountMembers({ account }: { readonly account: Account }) {
  const isOpen = account.closeTime === null;
  return (
    <div class="stack">
      {isOpen && (
        <div class="row apart">
          <p class="soft">{peopleText.membersNote}</p>
          <InviteButton account={account} isOperator />
        </div>
      )}
      <List
        noun={membersText.nouns}
        path="/api/admin/v1/people"
        query={{ accountId: account.accountId, limit: 100 }}
        rows={({ people }) => people}
        rowKey={({ userId }) => userId}
        empty={{
          icon: Users,
          title: peopleText.noMembers,
          text: isOpen ? peopleText.noMembersAdvice : peopleText.closedMembersAdvice,
        }}
        columns={[
          { title: peopleText.email, kind: 'head', cell: (person) => <PersonEmail person={person} /> },
          { title: peopleText.role, cell: ({ role }) => roleWord(role ?? '–') },
          { title: peopleText.state, cell: (person) => <PersonState person={person} /> },
          { title: peopleText.lastSeen, kind: 'end', cell: ({ lastUseTime }) => <Time ms={lastUseTime} /> },
        ]}
      />
    </div>
  );
}
