import { useState } from 'preact/hooks';
import type { Account } from '../../api/contract.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { TextField } from '../../ui/forms/form-fields.tsx';
import { useFields } from '../../ui/forms/form.tsx';
import { Ban, CirclePlay, DoorClosed, Ellipsis, Eye, Pencil } from '../../ui/controls/icons.ts';
import { Menu } from '../../ui/controls/menu.tsx';
import { auditReasonHint } from '../audit/audit-reason-hint.ts';
import { AdjustBalanceButton, GrantCreditsButton } from '../credits/grant-and-adjust.tsx';
import { ClosingEffects } from '../account-settings/account-settings-text.tsx';
import { accountsText } from './accounts-text.ts';
import { ViewAsOwnerDialog } from './view-as-owner-dialog.tsx';

type Props = { readonly account: Account };
type DialogProps = Props & { readonly onClose: () => void };

const dialogs = {
  view: ViewAsOwnerDialog,
  rename: RenameDialog,
  suspension: SuspensionDialog,
  close: CloseDialog,
};

/** Bookings are buttons; what happens seldom is in a menu. */
export function AccountActions({ account }: Props) {
  const [open, setOpen] = useState<keyof typeof dialogs>();
  const Opened = open === undefined ? undefined : dialogs[open];
  const isOpen = account.closeTime === null;
  const item = (which: keyof typeof dialogs, Icon: typeof Ban, label: string) => (
    <button type="button" onClick={() => setOpen(which)}>
      <Icon size={16} aria-hidden="true" /> {label}
    </button>
  );
  return (
    <>
      {isOpen && (
        <Menu label={accountsText.more} triggerClass="button icon" trigger={<Ellipsis size={16} />}>
          {item('view', Eye, accountsText.view)}
          {item('rename', Pencil, accountsText.rename)}
          {account.suspendTime === null
            ? item('suspension', Ban, accountsText.suspension.suspend.button)
            : item('suspension', CirclePlay, accountsText.suspension.lift.button)}
          {item('close', DoorClosed, accountsText.close)}
        </Menu>
      )}
      <AdjustBalanceButton account={account} />
      {isOpen && <GrantCreditsButton account={account} />}
      {Opened !== undefined && <Opened account={account} onClose={() => setOpen(undefined)} />}
    </>
  );
}

function RenameDialog({ account: { accountId, name }, onClose }: DialogProps) {
  const { values, field } = useFields({ name });
  return (
    <ActionDialog
      path="/api/admin/v1/accounts/rename"
      title={accountsText.renameTitle(name)}
      action={accountsText.rename}
      body={() => ({ accountId, name: values.name.trim() })}
      done={(account) => accountsText.renamed(account.name)}
      onClose={onClose}
    >
      <p class="soft">{accountsText.renameHelp}</p>
      <TextField label={accountsText.name} autocomplete="off" required maxLength={200} {...field('name')} />
    </ActionDialog>
  );
}

function SuspensionDialog({ account, onClose }: DialogProps) {
  // Polling may change `suspendTime` while the dialog is open. The dialog holds to the action that the operator chose.
  const [{ accountId, name, suspendTime }] = useState(account);
  const isSuspended = suspendTime !== null;
  const text = accountsText.suspension[isSuspended ? 'lift' : 'suspend'];
  return (
    <ActionDialog
      path={isSuspended ? '/api/admin/v1/accounts/unsuspend' : '/api/admin/v1/accounts/suspend'}
      title={text.title(name)}
      action={text.action}
      isDanger={!isSuspended}
      reason={text.reason}
      body={(reason) => ({ accountId, reason })}
      done={text.done(name)}
      help={text.help}
      onClose={onClose}
    />
  );
}

function CloseDialog({ account: { accountId, name }, onClose }: DialogProps) {
  return (
    <ActionDialog
      path="/api/admin/v1/accounts/close"
      title={accountsText.closeTitle(name)}
      action={accountsText.close}
      dismiss={accountsText.closeDismiss}
      isDanger
      confirmText={name}
      reason={auditReasonHint}
      body={(reason) => ({ accountId, reason })}
      done={accountsText.closeDone(name)}
      onClose={onClose}
    >
      <ClosingEffects />
    </ActionDialog>
  );
}
