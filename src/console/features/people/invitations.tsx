import type { Answer } from '../../api/call.ts';
import { X } from '../../ui/controls/icons.ts';
import { ImmediateActionButton } from '../../ui/forms/immediate-action-button.tsx';
import { TableCard } from '../../ui/lists/table-card.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { actionColumnProps } from '../../ui/lists/table.tsx';
import { roleWord } from './role-text.ts';
import { AccountLink } from '../accounts/account-link.tsx';
import { peopleText } from './people-text.ts';

type OperatorInvitation = Answer<'/api/admin/v1/people/invitations'>['invitations'][number];
type Invitation = Omit<OperatorInvitation, 'accountId' | 'accountName'> & Partial<OperatorInvitation>;

type InvitationsProps = {
  readonly title: string;
  readonly invitations: readonly Invitation[];
  /** On operators' pages, where each invitation makes an operator. */
  readonly isOperator?: boolean;
  readonly disabledReason?: string | undefined;
};

/** Open invitations, if there are any, into an account or of operators. */
export function Invitations({ title, invitations, isOperator = false, disabledReason }: InvitationsProps) {
  if (invitations.length === 0) return null;
  const accounts = {
    title: peopleText.account,
    cell: ({ accountId = null, accountName = null }: Invitation) =>
      accountId === null ? peopleText.noAccounts : <AccountLink accountId={accountId} name={accountName} />,
  };
  return (
    <TableCard
      title={title}
      rows={invitations}
      rowKey={({ linkId }) => linkId}
      columns={[
        { title: peopleText.email, kind: 'head', cell: ({ email }) => <bdi>{email}</bdi> },
        ...(isOperator ? [accounts] : []),
        { title: peopleText.role, cell: ({ role }) => (role === null ? peopleText.operator : roleWord(role)) },
        { title: peopleText.expires, kind: 'end', cell: ({ expireTime }) => <Time ms={expireTime} /> },
        {
          ...actionColumnProps,
          cell: ({ linkId, email }) => (
            <ImmediateActionButton
              path={isOperator ? '/api/admin/v1/people/withdraw' : '/api/console/v1/members/withdraw'}
              body={{ linkId }}
              done={peopleText.withdrawn}
              size="small"
              aria-label={peopleText.withdrawOf(email)}
              disabledReason={disabledReason}
            >
              <X size={14} aria-hidden="true" /> {peopleText.withdraw}
            </ImmediateActionButton>
          ),
        },
      ]}
    />
  );
}
