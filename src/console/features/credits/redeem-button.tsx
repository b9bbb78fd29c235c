import { ActionDialog } from '../../ui/action-dialog.tsx';
import { DialogButton } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { useFields } from '../../ui/form.tsx';
import { creditsText } from './credits-text.ts';

/** Owners add the credits of a code. */
export function RedeemButton() {
  return <DialogButton label={creditsText.redeem}>{(close) => <RedeemDialog onClose={close} />}</DialogButton>;
}

function RedeemDialog({ onClose }: { readonly onClose: () => void }) {
  const { values, field } = useFields({ code: '' });
  return (
    <ActionDialog
      path="/api/console/v1/credits/redeem"
      title={creditsText.redeem}
      action={creditsText.redeem}
      body={() => ({ code: values.code.trim() })}
      done={({ entry }) => creditsText.redeemed(entry.amount, entry.balanceAfter)}
      onClose={onClose}
    >
      <p class="soft">{creditsText.redeemHelp}</p>
      <TextField
        label={creditsText.code}
        placeholder="XXXX-XXXX-XXXX-XXXX"
        autocomplete="off"
        spellcheck={false}
        required
        {...field('code')}
      />
    </ActionDialog>
  );
}
