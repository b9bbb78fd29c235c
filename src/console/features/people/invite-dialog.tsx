import { useState } from 'preact/hooks';
import { type Role, roles } from '../../../accounts/people/account-roles-and-scopes.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { DialogButton, InfoDialog } from '../../ui/forms/dialog.tsx';
import { CheckField, Field, Segmented, TextField } from '../../ui/forms/form-fields.tsx';
import { useFields } from '../../ui/forms/form.tsx';
import { UserPlus } from '../../ui/controls/icons.ts';
import { SecretShownOnceDialog } from '../../ui/forms/secret-shown-once-dialog.tsx';
import { roleRights } from './role-rights.ts';
import { roleWords } from './role-text.ts';
import { AccountSearch } from '../accounts/account-search-and-filter.tsx';
import { peopleText } from './people-text.ts';

const choices = roles.map((value) => ({ value, label: roleWords[value] }));

type InviteProps = {
  /** To which account. Operators choose one without it. */
  readonly account?: { readonly accountId: string; readonly name: string };
  /** On operators' pages. */
  readonly isOperator?: boolean;
  readonly disabledReason?: string | undefined;
};

/** Creates a link that lets a person into an account, or makes an operator. */
export function InviteButton({ disabledReason, ...invite }: InviteProps) {
  const size = invite.isOperator === true && invite.account !== undefined ? ({ size: 'small' } as const) : {};
  return (
    <DialogButton label={peopleText.invite} icon={UserPlus} variant="primary" {...size} disabledReason={disabledReason}>
      {(close) => <InviteDialog {...invite} onClose={close} />}
    </DialogButton>
  );
}

function InviteDialog({ account, isOperator = false, onClose }: InviteProps & { readonly onClose: () => void }) {
  const { values, field } = useFields({ email: '' });
  const [accountId, setAccountId] = useState(account?.accountId ?? '');
  const [role, setRole] = useState<Role>(isOperator ? 'owner' : 'member');
  const [makesOperator, setMakesOperator] = useState(false);
  const email = values.email.trim();
  const isComplete = account !== undefined || accountId !== '' || makesOperator;
  return (
    <ActionDialog
      path={isOperator ? '/api/admin/v1/people/invite' : '/api/console/v1/members/invite'}
      title={account === undefined ? peopleText.inviteTitle : peopleText.inviteTo(account.name)}
      action={peopleText.createLink}
      disabledReason={isComplete ? undefined : peopleText.chooseAccount}
      body={() =>
        isOperator
          ? { email, isOperator: makesOperator, ...(accountId !== '' && { accountId, role }) }
          : { email, role }
      }
      result={({ url, isMailed }, { email: invited }) =>
        url === null ? (
          <InfoDialog title={peopleText.invitationTitle(invited)} onClose={onClose}>
            <p>{peopleText.invitationSent(invited)}</p>
          </InfoDialog>
        ) : (
          <SecretShownOnceDialog
            title={peopleText.invitationTitle(invited)}
            what={peopleText.linkNoun}
            text={url}
            onClose={onClose}
          >
            {isMailed ? peopleText.mailed : peopleText.invitationAdvice}
          </SecretShownOnceDialog>
        )
      }
      onClose={onClose}
    >
      <p class="soft">{peopleText.inviteHelp}</p>
      <TextField label={peopleText.email} type="email" autocomplete="off" required {...field('email')} />
      {account === undefined && (
        <Field label={peopleText.account} hint={peopleText.accountHint} name="accountId">
          {(described) => (
            <AccountSearch label={peopleText.account} value={accountId} onValue={setAccountId} described={described} />
          )}
        </Field>
      )}
      {accountId !== '' && (
        <Segmented
          label={peopleText.roleIn}
          name="role"
          hint={`${roleWords[role]}: ${roleRights[role]}.`}
          value={role}
          options={choices}
          onValue={setRole}
        />
      )}
      {account === undefined && (
        <CheckField
          label={peopleText.operator}
          hint={peopleText.operatorHint}
          isChecked={makesOperator}
          onValue={setMakesOperator}
        />
      )}
    </ActionDialog>
  );
}
