import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { DialogButton } from '../../ui/forms/dialog.tsx';
import { TextField } from '../../ui/forms/form-fields.tsx';
import { useFields } from '../../ui/forms/form.tsx';
import { creditsText } from './credits-text.ts';

/** Owners add the credits of a code. */
export function RedeemCodeButton() {
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
      done={({ entry, isRepeat }) =>
        isRepeat ? creditsText.redeemedBefore : creditsText.redeemed(entry.amount, entry.balanceAfter)
      }
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
