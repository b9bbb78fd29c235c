import type { Account } from '../../api/contract.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { DialogButton } from '../../ui/forms/dialog.tsx';
import { TextField } from '../../ui/forms/form-fields.tsx';
import { useFields } from '../../ui/forms/form.tsx';
import { Plus, Scale } from '../../ui/controls/icons.ts';
import { creditsText } from './credits-text.ts';

type Props = { readonly account: Account };
type DialogProps = Props & { readonly onClose: () => void };

export function GrantCreditsButton({ account }: Props) {
  return (
    <DialogButton label={creditsText.grant} icon={Plus} variant="primary">
      {(close) => <GrantDialog account={account} onClose={close} />}
    </DialogButton>
  );
}

function GrantDialog({ account: { accountId, name }, onClose }: DialogProps) {
  const { values, field } = useFields({ credits: '' });
  return (
    <ActionDialog
      path="/api/admin/v1/credits/grant"
      isOnce
      title={creditsText.grantTo(name)}
      action={creditsText.grantAction(numberIn(values.credits))}
      reason={creditsText.bookingReason}
      body={(reason) => ({ accountId, credits: Number(values.credits), reason })}
      done={({ entry }) => creditsText.booked(entry.balanceAfter)}
      onClose={onClose}
    >
      <p class="soft">{creditsText.grantHelp}</p>
      <TextField label={creditsText.amount} type="number" min={1} step={1} required {...field('credits')} />
    </ActionDialog>
  );
}

export function AdjustBalanceButton({ account }: Props) {
  return (
    <DialogButton label={creditsText.adjust} icon={Scale}>
      {(close) => <AdjustDialog account={account} onClose={close} />}
    </DialogButton>
  );
}

function AdjustDialog({ account: { accountId, name }, onClose }: DialogProps) {
  const { values, field } = useFields({ amount: '' });
  return (
    <ActionDialog
      path="/api/admin/v1/credits/adjust"
      isOnce
      title={creditsText.adjustTitle(name)}
      action={creditsText.adjustAction(numberIn(values.amount))}
      reason={creditsText.bookingReason}
      body={(reason) => ({ accountId, amount: Number(values.amount), reason })}
      done={({ entry }) => creditsText.booked(entry.balanceAfter)}
      onClose={onClose}
    >
      <p class="soft">{creditsText.adjustHelp}</p>
      <TextField
        label={creditsText.change}
        hint={creditsText.changeHint}
        type="number"
        step={1}
        required
        {...field('amount')}
      />
    </ActionDialog>
  );
}

/** The amount in the label of a button; undefined without one. */
function numberIn(text: string): number | undefined {
  const value = Number(text);
  return text !== '' && Number.isSafeInteger(value) ? value : undefined;
}
