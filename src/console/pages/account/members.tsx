import { UserPlus, X } from 'lucide-preact';
import { useState } from 'preact/hooks';
import type { Answer } from '../../api/call.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead, useSend } from '../../api/queries.ts';
import { useAccount, useMe, useRoleReason } from '../../api/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { FilterSelect, SelectField, TextField } from '../../ui/field.tsx';
import { ErrorBox, Notice } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { ExactTime, Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { type Role, roleWords } from '../../words.ts';
import { SecurityEvents } from './security-events.tsx';

type Members = Answer<'/api/console/v1/members'>;
type Member = Members['members'][number];
type Invitation = Members['invitations'][number];

const roles: readonly Role[] = ['owner', 'member', 'viewer'];
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
              roleWords[member.role].word
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

function RoleChoice({ member, isLastOwner }: MemberProps) {
  const change = useSend('/api/console/v1/members/role', { onDone: () => toast('The role is changed') });
  if (isLastOwner) return <span title={lastOwner}>{roleWords[member.role].word}</span>;
  return (
    <FilterSelect
      label={`Role of ${member.email}`}
      value={member.role}
      options={roleOptions}
      onValue={(role) =>
        change.mutate({ userId: member.userId, role }, { onError: (error) => toast(failureOf(error).sentence, 'bad') })
      }
    />
  );
}

function RemoveButton({ member, isLastOwner }: MemberProps) {
  const [isAsked, setAsked] = useState(false);
  const remove = useSend('/api/console/v1/members/remove', {
    onDone: () => {
      setAsked(false);
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
        { title: 'Role', cell: ({ role }) => roleWords[role].word },
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

function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const invite = useSend('/api/console/v1/members/invite');
  const faults = invite.error?.faults ?? {};
  if (invite.data !== undefined) {
    const { url, expireTime } = invite.data;
    return (
      <Dialog
        title="Invitation made"
        onClose={onClose}
        footer={
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        <Notice tone="warn" title="This link is shown once">
          <p>
            Send it to {email} yourself: whoever opens it joins the account. It works once, until{' '}
            <ExactTime ms={expireTime} />.
          </p>
        </Notice>
        <div class="secret">
          <code>{url}</code>
          <CopyButton text={url} label="Copy the link" isLoud />
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog
      title="Invite somebody"
      onClose={onClose}
      onSubmit={() => invite.mutate({ email: email.trim(), role })}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" busy={invite.isPending}>
            Make the link
          </Button>
        </>
      }
    >
      {invite.error !== null && Object.keys(faults).length === 0 && <ErrorBox failure={failureOf(invite.error)} />}
      <TextField
        label="E-mail"
        type="email"
        value={email}
        onValue={setEmail}
        fault={faults['email']}
        hint="No mail is sent: you get a link to pass on."
        required
      />
      <SelectField
        label="Role"
        value={role}
        options={roles.map((value) => ({
          value,
          label: `${roleWords[value].word}: ${roleWords[value].can.toLowerCase()}`,
        }))}
        onValue={setRole}
      />
    </Dialog>
  );
}
