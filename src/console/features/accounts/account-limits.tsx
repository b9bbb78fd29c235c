import { useState } from 'preact/hooks';
import type { Account } from '../../api/contract.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { DialogButton } from '../../ui/forms/dialog.tsx';
import { CheckField, TextField } from '../../ui/forms/form-fields.tsx';
import { useFields } from '../../ui/forms/form.tsx';
import { formatNumber } from '../../ui/number-formats.tsx';
import { Card, Facts } from '../../ui/page-card-facts-and-tiles.tsx';
import { accountsText } from './accounts-text.ts';

/** The limits of unfinished tasks and of the rate of new ones. */
export function AccountLimits({ account }: { readonly account: Account }) {
  const { maxUnfinishedTasks, creates } = account;
  const change = (
    <DialogButton label={accountsText.changeLimits} size="small">
      {(close) => <LimitsDialog account={account} onClose={close} />}
    </DialogButton>
  );
  const rate =
    creates === null ? accountsText.defaultRate : accountsText.ownRateOf(creates.quota, creates.windowSeconds);
  return (
    <Card title={accountsText.limits} actions={change}>
      <Facts
        facts={[
          [accountsText.maxUnfinished, formatNumber(maxUnfinishedTasks)],
          [accountsText.createRate, rate],
        ]}
      />
    </Card>
  );
}

function LimitsDialog({ account, onClose }: { readonly account: Account; readonly onClose: () => void }) {
  // Polling replaces these values while the dialog is open.
  const [{ accountId, name, creates, maxUnfinishedTasks }] = useState(account);
  const [hasOwnRate, setOwnRate] = useState(creates !== null);
  const { values, field } = useFields({
    maxUnfinishedTasks: String(maxUnfinishedTasks),
    quota: String(creates?.quota ?? ''),
    windowSeconds: String(creates?.windowSeconds ?? ''),
  });
  const maxTasks = Number(values.maxUnfinishedTasks);
  const rate = hasOwnRate ? { quota: Number(values.quota), windowSeconds: Number(values.windowSeconds) } : null;
  const isOtherRate = rate?.quota !== creates?.quota || rate?.windowSeconds !== creates?.windowSeconds;
  const whole = { type: 'number', step: 1, required: true } as const;
  return (
    <ActionDialog
      path="/api/admin/v1/accounts/limits"
      title={accountsText.limitsTitle(name)}
      action={accountsText.changeLimits}
      // A limit that was not changed here is left out, so that the change of another operator stays.
      body={() => ({
        accountId,
        ...(maxTasks !== maxUnfinishedTasks && { maxUnfinishedTasks: maxTasks }),
        ...(isOtherRate && { creates: rate }),
      })}
      done={accountsText.limitsSaved(name)}
      onClose={onClose}
    >
      <p class="soft">{accountsText.limitsHelp}</p>
      <TextField label={accountsText.maxUnfinished} {...whole} min={0} {...field('maxUnfinishedTasks')} />
      <CheckField
        label={accountsText.ownRate}
        hint={accountsText.ownRateHint}
        isChecked={hasOwnRate}
        onValue={setOwnRate}
      />
      {hasOwnRate && (
        <div class="amounts">
          <TextField label={accountsText.rateTasks} {...whole} min={1} {...field('quota')} name="creates.quota" />
          <TextField
            label={accountsText.rateSeconds}
            {...whole}
            min={1}
            {...field('windowSeconds')}
            name="creates.windowSeconds"
          />
        </div>
      )}
    </ActionDialog>
  );
}
