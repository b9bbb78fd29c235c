import { Ban, Plus } from '../../ui/icons.ts';
import { CirclePlay, DoorClosed, Pencil, Scale } from './icons.ts';
import { useState } from 'preact/hooks';
import type { Sent } from '../../api/call.ts';
import type { Account } from '../../api/contract.ts';
import type { ApiProblem } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { ClosingWords, useTypedName } from '../../ui/closing.tsx';
import { TextField } from '../../ui/field.tsx';
import { credits } from '../../ui/money.tsx';
import { toast } from '../../ui/toast.tsx';
import { auditHint, ChangeDialog } from './change-dialog.tsx';
import { wholeOf, writtenNumber } from './figures.ts';

type Props = { readonly account: Account };

const ledgerHint = 'Shown to the account in its ledger, and kept in the audit log with your name.';

export function GrantButton({ account: { accountId, name } }: Props) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button look="primary" onClick={() => setAsked(true)}>
        <Plus size={16} aria-hidden="true" /> Grant credits
      </Button>
      {isAsked && <GrantDialog accountId={accountId} name={name} onClose={() => setAsked(false)} />}
    </>
  );
}

type DialogProps = Pick<Account, 'accountId' | 'name'> & { readonly onClose: () => void };

function GrantDialog({ accountId, name, onClose }: DialogProps) {
  const [text, setText] = useState('');
  const amount = wholeOf(text);
  const written = writtenNumber(amount);
  return (
    <ChangeDialog
      path="/api/admin/v1/credits/grant"
      title={`Grant credits to ${name}`}
      action={written === undefined ? 'Grant' : `Grant ${credits(written)}`}
      says="For credits that were bought or given. A grant stands in the ledger for ever; only an adjustment takes credits back."
      fields={['credits']}
      reasonHint={ledgerHint}
      booksFor={accountId}
      faultsOf={bookingFault('credits')}
      body={(reason) => ({ accountId, credits: amount, reason })}
      onClose={onClose}
      onDone={(answer) => toast(bookedSentence('Granted', answer))}
    >
      {(faults) => (
        <TextField
          label="Credits"
          inputMode="numeric"
          autocomplete="off"
          value={text}
          onValue={setText}
          fault={faults['credits']}
        />
      )}
    </ChangeDialog>
  );
}

export function RenameButton({ account: { accountId, name: before } }: Props) {
  const [isAsked, setAsked] = useState(false);
  const [name, setName] = useState(before);
  return (
    <>
      <Button onClick={() => setAsked(true)}>
        <Pencil size={16} aria-hidden="true" /> Rename
      </Button>
      {isAsked && (
        <ChangeDialog
          path="/api/admin/v1/accounts/rename"
          title={`Rename ${before}`}
          action="Rename"
          says="Its members see the new name."
          fields={['name']}
          body={() => ({ accountId, name: name.trim() })}
          onClose={() => setAsked(false)}
          onDone={(account) => toast(`Renamed to ${account.name}`)}
        >
          {(faults) => (
            <TextField
              label="Name"
              autocomplete="off"
              maxLength={200}
              value={name}
              onValue={setName}
              fault={faults['name']}
            />
          )}
        </ChangeDialog>
      )}
    </>
  );
}

export function AdjustButton({ account: { accountId, name } }: Props) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button onClick={() => setAsked(true)}>
        <Scale size={16} aria-hidden="true" /> Adjust
      </Button>
      {isAsked && <AdjustDialog accountId={accountId} name={name} onClose={() => setAsked(false)} />}
    </>
  );
}

type Booked = Sent<'/api/admin/v1/credits/grant'>;

function bookedSentence(verb: 'Granted' | 'Adjusted', answer: Booked): string {
  return `${verb}. The balance is ${credits(answer.entry.balanceAfter)} now.`;
}

function AdjustDialog({ accountId, name, onClose }: DialogProps) {
  const [text, setText] = useState('');
  const amount = wholeOf(text);
  const written = writtenNumber(amount);
  return (
    <ChangeDialog
      path="/api/admin/v1/credits/adjust"
      title={`Adjust the balance of ${name}`}
      action={actionOf(written)}
      says="For corrections, up or down. The balance cannot fall below zero."
      fields={['amount']}
      reasonHint={ledgerHint}
      booksFor={accountId}
      faultsOf={bookingFault('amount')}
      body={(reason) => ({ accountId, amount, reason })}
      onClose={onClose}
      onDone={(answer) => toast(bookedSentence('Adjusted', answer))}
    >
      {(faults) => (
        <TextField
          label="Change in credits"
          hint="Such as 500, or -500 to take credits away."
          autocomplete="off"
          value={text}
          onValue={setText}
          fault={faults['amount']}
        />
      )}
    </ChangeDialog>
  );
}

function actionOf(amount: number | undefined): string {
  if (amount === undefined) return 'Adjust';
  return amount < 0 ? `Take away ${credits(-amount)}` : `Add ${credits(amount)}`;
}

/** What the books refuse, said of the field with the figure. */
function bookingFault(field: string) {
  return ({ error, data }: ApiProblem) => {
    if (error === 'idempotency_key_reused')
      return { [field]: 'The try before was booked with another amount. Close this and look at the ledger first.' };
    if (error !== 'balance_out_of_range') return undefined;
    const { balance } = data;
    const holds = typeof balance === 'number' ? ` The account holds ${credits(balance)}.` : '';
    return { [field]: `The balance would fall below zero, or grow beyond what can be counted.${holds}` };
  };
}

export function SuspendButton({ account: { accountId, name, suspendTime } }: Props) {
  const [isAsked, setAsked] = useState(false);
  const isSuspended = suspendTime !== null;
  const shared = {
    fields: [],
    reasonHint: auditHint,
    body: (reason: string) => ({ accountId, reason }),
    onClose: () => setAsked(false),
  } as const;
  return (
    <>
      <Button look={isSuspended ? 'plain' : 'danger'} onClick={() => setAsked(true)}>
        {isSuspended ? <CirclePlay size={16} aria-hidden="true" /> : <Ban size={16} aria-hidden="true" />}
        {isSuspended ? 'Lift the suspension' : 'Suspend'}
      </Button>
      {isAsked && !isSuspended && (
        <ChangeDialog
          {...shared}
          path="/api/admin/v1/accounts/suspend"
          reasonHint="Shown to the members of the account, and kept in the audit log with your name."
          title={`Suspend ${name}?`}
          action="Suspend the account"
          isDanger
          says="From the next request on it creates no tasks and no keys. It goes on reading, and what it has paid for is finished."
          onDone={() => toast(`${name} is suspended`)}
        />
      )}
      {isAsked && isSuspended && (
        <ChangeDialog
          {...shared}
          path="/api/admin/v1/accounts/unsuspend"
          title={`Lift the suspension of ${name}?`}
          action="Lift the suspension"
          says="From the next request on it creates tasks and keys again."
          onDone={() => toast(`${name} may create tasks again`)}
        />
      )}
    </>
  );
}

export function CloseButton({ account }: Props) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button look="danger" onClick={() => setAsked(true)}>
        <DoorClosed size={16} aria-hidden="true" /> Close account…
      </Button>
      {isAsked && <CloseDialog {...account} onClose={() => setAsked(false)} />}
    </>
  );
}

function CloseDialog({ accountId, name, onClose }: DialogProps) {
  const { missing, field } = useTypedName(name);
  return (
    <ChangeDialog
      path="/api/admin/v1/accounts/close"
      title={`Close ${name} for good?`}
      action="Close the account"
      dismissal="Keep it open"
      isDanger
      says={<ClosingWords />}
      missing={missing}
      reasonHint={auditHint}
      body={(reason) => ({ accountId, reason })}
      onClose={onClose}
      onDone={() => toast(`${name} is closed`)}
    >
      {() => field}
    </ChangeDialog>
  );
}
