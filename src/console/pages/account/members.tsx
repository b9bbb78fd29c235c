import { UserPlus, X } from '../../ui/icons.ts';
import { useState } from 'preact/hooks';
import { type Role, roles } from '../../../people/role.ts';
import type { Answer } from '../../api/call.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead, useSend } from '../../api/queries.ts';
import { useAccount, useMe, useRoleReason } from '../../api/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { FilterSelect } from '../../ui/field.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { roleWord, roleWords } from '../../words.ts';
import { InviteDialog } from './invite-dialog.tsx';
import { SecurityEvents } from './security-events.tsx';

type Members = Answer<'/api/console/v1/members'>;
type Member = Members['members'][number];
type Invitation = Members['invitations'][number];

const roleOptions = roles.map((value) => ({ value, label: roleWords[value].word }));

export function MembersPage() {
  const { name } = useAccount();
  const reason = useRoleReason('owner');
  const [isInviting, setInviting] = useState(false);
  const { data, error, refetch } = useRead('/api/console/v1/members', {});
  const isFailed = error !== null && data === undefined;
  return (
    <Page
      title="Members"
      lead={`Who may use ${name}, and what each of them may do.`}
      actions={
        <Button look="primary" disabledReason={reason} onClick={() => setInviting(true)}>
          <UserPlus size={16} aria-hidden="true" /> Invite
        </Button>
      }
    >
      {isFailed ? (
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      ) : (
        <MemberTable members={data?.members} isOwner={reason === undefined} />
      )}
      {data !== undefined && data.invitations.length > 0 && (
        <Card title="Open invitations" isFlush>
          <InvitationTable invitations={data.invitations} reason={reason} />
        </Card>
      )}
      {(data !== undefined || isFailed) && <Roles />}
      {(data !== undefined || isFailed) && reason === undefined && <SecurityEvents isFailureSaid={isFailed} />}
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
    </Page>
  );
}

/** Below the tables, whose lengths are known by then. */
function Roles() {
  return (
    <Card title="Roles">
      <dl class="facts">
        {roles.map((role) => (
          <div key={role}>
            <dt>{roleWords[role].word}</dt>
            <dd>{roleWords[role].can}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

type TableProps = { readonly members: readonly Member[] | undefined; readonly isOwner: boolean };

function MemberTable({ members, isOwner }: TableProps) {
  const { data: me } = useMe();
  const owners = members?.filter(({ role }) => role === 'owner').length ?? 0;
  return (
    <Table
      caption="Members"
      rows={members}
      rowKey={({ userId }) => userId}
      expected={2}
      columns={[
        {
          title: 'E-mail',
          kind: 'head',
          cell: ({ email, userId, isDisabled }) => (
            <span class="row">
              <strong class="entry">{email}</strong>
              {userId === me?.user.userId && <Badge>you</Badge>}
              {isDisabled && <Badge tone="warn">disabled</Badge>}
            </span>
          ),
        },
        {
          title: 'Role',
          cell: (member) =>
            isOwner ? (
              <RoleChoice member={member} isLastOwner={member.role === 'owner' && owners === 1} />
            ) : (
              roleWord(member.role)
            ),
        },
        {
          title: 'Last seen',
          kind: 'end',
          cell: ({ lastUseTime }) => (lastUseTime === null ? 'never' : <Time ms={lastUseTime} />),
        },
        { title: 'Joined', kind: 'end', isMinor: true, cell: ({ joinTime }) => <Time ms={joinTime} /> },
        {
          title: 'Actions',
          kind: 'actions',
          cell: (member) =>
            isOwner && <RemoveButton member={member} isLastOwner={member.role === 'owner' && owners === 1} />,
        },
      ]}
    />
  );
}

type MemberProps = { readonly member: Member; readonly isLastOwner: boolean };

const lastOwner = 'An account keeps at least one owner: make another one first';

/** Asked before it is sent: one key chooses from a closed list. It shows the old role until there is another. */
function RoleChoice({ member, isLastOwner }: MemberProps) {
  const [asked, setAsked] = useState<Role>();
  if (isLastOwner) return <span title={lastOwner}>{roleWord(member.role)}</span>;
  return (
    <>
      <FilterSelect
        label={`Role of ${member.email}`}
        value={member.role}
        options={roleOptions}
        onValue={(role) => setAsked(role === member.role ? undefined : role)}
      />
      {asked !== undefined && <RoleDialog member={member} role={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

type RoleProps = { readonly member: Member; readonly role: Role; readonly onClose: () => void };

function RoleDialog({ member: { userId, email, role: before }, role, onClose }: RoleProps) {
  const { data: me, refetch } = useMe();
  const change = useSend('/api/console/v1/members/role', {
    onDone: () => {
      onClose();
      // It may be the person's own.
      void refetch();
      toast('The role is changed');
    },
  });
  return (
    <ConfirmDialog
      title={`Change the role of ${email}?`}
      action="Change the role"
      isBusy={change.isPending}
      onClose={onClose}
      onConfirm={() => change.mutate({ userId, role })}
    >
      {change.error !== null && <ErrorBox failure={failureOf(change.error)} />}
      <p>
        <strong>
          {roleWords[before].word} becomes {roleWords[role].word}
        </strong>
        : {roleWords[role].can.toLowerCase()}.
      </p>
      <p>
        {userId === me?.user.userId
          ? 'This is you. Your other sessions end.'
          : 'All of their sessions end: they sign in again.'}
      </p>
    </ConfirmDialog>
  );
}

function RemoveButton({ member, isLastOwner }: MemberProps) {
  const [isAsked, setAsked] = useState(false);
  const { refetch } = useMe();
  const remove = useSend('/api/console/v1/members/remove', {
    onDone: () => {
      setAsked(false);
      void refetch();
      toast(`${member.email} is removed`);
    },
  });
  return (
    <>
      <Button
        size="small"
        look="danger"
        aria-label={`Remove ${member.email}`}
        disabledReason={isLastOwner ? lastOwner : undefined}
        onClick={() => setAsked(true)}
      >
        Remove
      </Button>
      {isAsked && (
        <ConfirmDialog
          title={`Remove ${member.email}?`}
          action="Remove"
          isBusy={remove.isPending}
          onClose={() => setAsked(false)}
          onConfirm={() => remove.mutate({ userId: member.userId })}
        >
          {remove.error !== null && <ErrorBox failure={failureOf(remove.error)} />}
          <p>
            They have no access to this account from their next request on. API keys of the account stay as they are.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

type InvitationsProps = { readonly invitations: readonly Invitation[]; readonly reason: string | undefined };

function InvitationTable({ invitations, reason }: InvitationsProps) {
  const withdraw = useSend('/api/console/v1/members/withdraw', { onDone: () => toast('The invitation is withdrawn') });
  return (
    <Table
      caption="Open invitations"
      rows={invitations}
      rowKey={({ linkId }) => linkId}
      columns={[
        { title: 'E-mail', kind: 'head', cell: ({ email }) => email },
        { title: 'Role', cell: ({ role }) => roleWord(role) },
        { title: 'Expires', kind: 'end', cell: ({ expireTime }) => <Time ms={expireTime} /> },
        {
          title: 'Actions',
          kind: 'actions',
          cell: ({ linkId, email }) => (
            <Button
              size="small"
              aria-label={`Withdraw the invitation of ${email}`}
              disabledReason={reason}
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
  );
}
