import { UserPlus } from '../../ui/icons.ts';
import { useId, useState } from 'preact/hooks';
import { roles } from '../../../people/role.ts';
import type { Account } from '../../api/contract.ts';
import type { NewLink } from './shown-once.tsx';
import { useRead } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { CheckField, Segmented, SelectField, TextField } from '../../ui/field.tsx';
import { type Role, roleWords } from '../../words.ts';
import { ChangeDialog, type Faults } from './change-dialog.tsx';
import { AccountSearch } from './references.tsx';
import { ShownOnce } from './shown-once.tsx';

const choices = roles.map((value) => ({ value, label: roleWords[value].word }));

type InviteProps = {
  /** To which account; without it the dialog asks. */
  readonly account?: Pick<Account, 'accountId' | 'name'>;
};

/** A link to hand over: this service sends no e-mail. */
export function InviteButton({ account }: InviteProps) {
  const [isAsked, setAsked] = useState(false);
  const [link, setLink] = useState<NewLink>();
  return (
    <>
      <Button {...(account === undefined ? { look: 'primary' } : { size: 'small' })} onClick={() => setAsked(true)}>
        <UserPlus size={16} aria-hidden="true" /> Invite
      </Button>
      {isAsked && <InviteDialog account={account} onClose={() => setAsked(false)} onLink={setLink} />}
      {link !== undefined && (
        <ShownOnce title="The invitation" what="link" text={link.url} onClose={() => setLink(undefined)} />
      )}
    </>
  );
}

type DialogProps = {
  readonly account: InviteProps['account'] | undefined;
  readonly onClose: () => void;
  readonly onLink: (link: NewLink) => void;
};

function InviteDialog({ account, onClose, onLink }: DialogProps) {
  const [email, setEmail] = useState('');
  const [accountId, setAccountId] = useState(account?.accountId ?? '');
  const [role, setRole] = useState<Role>('owner');
  const [isOperator, setOperator] = useState(false);
  return (
    <ChangeDialog
      path="/api/admin/v1/people/invite"
      title={account === undefined ? 'Invite somebody' : `Invite somebody to ${account.name}`}
      action="Make the link"
      says="You get a link to hand over; no e-mail is sent. It works once, and for 48 hours."
      fields={['email', 'accountId', 'role']}
      body={() => ({ email, isOperator, ...(accountId !== '' && { accountId, role }) })}
      onClose={onClose}
      onDone={onLink}
    >
      {(faults) => (
        <>
          <TextField
            label="E-mail"
            type="email"
            autocomplete="off"
            value={email}
            onValue={setEmail}
            fault={faults['email']}
          />
          {account === undefined && <AccountField value={accountId} onValue={setAccountId} faults={faults} />}
          {accountId !== '' && (
            <Segmented
              label="Role in the account"
              hint={`${roleWords[role].word}: ${roleWords[role].can}.`}
              value={role}
              options={choices}
              onValue={setRole}
              fault={faults['role']}
            />
          )}
          {account === undefined && (
            <CheckField
              label="Operator"
              hint="Sees every account, moves credits, changes prices and providers."
              isChecked={isOperator}
              onValue={setOperator}
            />
          )}
        </>
      )}
    </ChangeDialog>
  );
}

const noAccount = 'Choose an account, or make them an operator.';

type AccountFieldProps = {
  readonly value: string;
  readonly onValue: (accountId: string) => void;
  readonly faults: Faults;
};

/** A choice of accounts; where there are many, a text field that searches their names. */
function AccountField({ value, onValue, faults }: AccountFieldProps) {
  const id = useId();
  const { data } = useRead('/api/admin/v1/accounts', { limit: 100 });
  if (typeof data?.nextCursor === 'string') {
    return (
      <div class="field">
        <label for={id}>Account</label>
        <AccountSearch id={id} value={value} onValue={onValue} isOpenOnly />
        {faults['accountId'] !== undefined && <p class="fault">{noAccount}</p>}
      </div>
    );
  }
  const open = (data?.accounts ?? []).filter(({ closeTime }) => closeTime === null);
  const accounts = open.map(({ accountId, name }) => ({ value: accountId, label: name }));
  return (
    <SelectField
      label="Account"
      value={value}
      options={[{ value: '', label: 'None' }, ...accounts]}
      onValue={onValue}
      fault={faults['accountId'] === undefined ? undefined : noAccount}
    />
  );
}
