import { useState } from 'preact/hooks';
import { type Role, roles } from '../../../accounts/people/account-roles-and-scopes.ts';
import type { Answer } from '../../api/call.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useAccount, useIsOwner, useMe, useNotAllowedReason } from '../../api/session.ts';
import { ActionButton, ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { Badge } from '../../ui/controls/badge-and-state-dot.tsx';
import { FilterSelect } from '../../ui/forms/form-fields.tsx';
import { Users } from '../../ui/controls/icons.ts';
import { ListPage } from '../../ui/lists/list.tsx';
import { Card, Facts } from '../../ui/page-card-facts-and-tiles.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { actionColumnProps } from '../../ui/lists/table.tsx';
import { roleRights } from './role-rights.ts';
import { roleWord, roleWords } from './role-text.ts';
import { AccountSecurityEventsCard } from '../security/security-events.tsx';
import { Invitations } from './invitations.tsx';
import { InviteButton } from './invite-dialog.tsx';
import { membersText as text } from './members-text.ts';

type Member = Answer<'/api/console/v1/members'>['members'][number];

const path = '/api/console/v1/members';
const roleOptions = roles.map((value) => ({ value, label: roleWords[value] }));

/** The people of one account. */
export function MembersPage() {
  const { accountId, name } = useAccount();
  const reason = useNotAllowedReason('owner');
  const { data: me } = useMe();
  const { data } = useRead(path, {});
  const isOwner = reason === undefined;
  const owners = data?.members.filter(({ role }) => role === 'owner').length ?? 0;
  const isLastOwner = ({ role }: Member) => role === 'owner' && owners === 1;
  return (
    <ListPage
      lead={text.lead(name)}
      actions={<InviteButton account={{ accountId, name }} disabledReason={reason} />}
      noun={text.nouns}
      path={path}
      query={{}}
      rows={({ members }) => members}
      rowKey={({ userId }) => userId}
      expected={2}
      empty={{ icon: Users, title: text.none }}
      columns={[
        {
          title: text.columns.email,
          kind: 'head',
          cell: ({ email, userId, isDisabled }) => (
            <span class="row">
              <strong class="strong">{email}</strong>
              {userId === me?.user.userId && <Badge>{text.you}</Badge>}
              {isDisabled && <Badge tone="warn">{text.disabled}</Badge>}
            </span>
          ),
        },
        {
          title: text.columns.role,
          cell: (member) =>
            isOwner ? <RoleChoice member={member} isLastOwner={isLastOwner(member)} /> : roleWord(member.role ?? '–'),
        },
        { title: text.columns.seen, kind: 'end', cell: ({ lastUseTime }) => <Time ms={lastUseTime} /> },
        {
          title: text.columns.joined,
          kind: 'end',
          isMinor: true,
          cell: ({ joinTime }) => (joinTime === null ? '–' : <Time ms={joinTime} />),
        },
        {
          ...actionColumnProps,
          cell: (member) => isOwner && <RemoveButton member={member} isLastOwner={isLastOwner(member)} />,
        },
      ]}
    >
      <Invitations title={text.invitations} invitations={data?.invitations ?? []} disabledReason={reason} />
      <Card title={text.roles}>
        <Facts facts={roles.map((role) => [roleWords[role], roleRights[role]])} />
      </Card>
      {useIsOwner() && <AccountSecurityEventsCard />}
    </ListPage>
  );
}

type MemberProps = { readonly member: Member; readonly isLastOwner: boolean };

/** Confirmed before it is sent, because one key press chooses from a closed list. */
function RoleChoice({ member, isLastOwner }: MemberProps) {
  const [chosen, setChosen] = useState<Role>();
  const { userId, email } = member;
  const { data: me, refetch } = useMe();
  const before = roles.find((role) => role === member.role);
  if (isLastOwner || before === undefined) return <span title={text.lastOwner}>{roleWord(member.role ?? '–')}</span>;
  return (
    <>
      <FilterSelect
        label={text.roleOf(email)}
        value={before}
        options={roleOptions}
        onValue={(role) => setChosen(role === before ? undefined : role)}
      />
      {chosen !== undefined && (
        <ActionDialog
          path="/api/console/v1/members/role"
          title={text.change.title(email)}
          action={text.change.action}
          isDanger
          body={() => ({ userId, role: chosen })}
          done={text.change.done}
          // The role may be the person's own.
          onDone={() => void refetch()}
          onClose={() => setChosen(undefined)}
        >
          <p>
            <strong>{text.change.from(roleWords[before], roleWords[chosen])}</strong>:{' '}
            {roleRights[chosen].toLowerCase()}.
          </p>
          <p>{userId === me?.user.userId ? text.change.self : text.change.other}</p>
        </ActionDialog>
      )}
    </>
  );
}

function RemoveButton({ member: { userId, email }, isLastOwner }: MemberProps) {
  const { refetch } = useMe();
  const { button, named, title, action, effect, done } = text.remove;
  return (
    <ActionButton
      button={{
        label: button,
        size: 'small',
        variant: 'danger',
        'aria-label': named(email),
        disabledReason: isLastOwner ? text.lastOwner : undefined,
      }}
      path="/api/console/v1/members/remove"
      title={title(email)}
      action={action}
      isDanger
      body={() => ({ userId })}
      done={done(email)}
      onDone={() => void refetch()}
      effect={effect}
    />
  );
}
