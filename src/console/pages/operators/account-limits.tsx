import { useState } from 'preact/hooks';
import type { Account } from '../../api/contract.ts';
import { Button } from '../../ui/button.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { number } from '../../ui/money.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { ChangeDialog } from './change-dialog.tsx';
import { wholeOf } from './figures.ts';

/** How much at once, and how fast. */
export function AccountLimits({ account }: { readonly account: Account }) {
  const [isAsked, setAsked] = useState(false);
  return (
    <Card
      title="Limits"
      actions={
        <Button size="small" onClick={() => setAsked(true)}>
          Change the limits
        </Button>
      }
    >
      <Facts
        facts={[
          ['Unfinished tasks at once', number(account.maxUnfinishedTasks)],
          ['New tasks', rateOf(account.creates)],
        ]}
      />
      {isAsked && <LimitsDialog account={account} onClose={() => setAsked(false)} />}
    </Card>
  );
}

function rateOf(creates: Account['creates']): string {
  if (creates === null) return 'at the rate of the installation';
  return `${number(creates.quota)} in ${number(creates.windowSeconds)}\u00A0s, its own rate`;
}

function LimitsDialog({ account, onClose }: { readonly account: Account; readonly onClose: () => void }) {
  const { accountId, name, creates } = account;
  const [most, setMost] = useState(String(account.maxUnfinishedTasks));
  const [hasOwnRate, setOwnRate] = useState(creates !== null);
  const [quota, setQuota] = useState(String(creates?.quota ?? ''));
  const [seconds, setSeconds] = useState(String(creates?.windowSeconds ?? ''));
  const rate = hasOwnRate ? { quota: wholeOf(quota), windowSeconds: wholeOf(seconds) } : null;
  return (
    <ChangeDialog
      path="/api/admin/v1/accounts/limits"
      title={`Limits of ${name}`}
      action="Change the limits"
      says="They count from the next task on. Tasks that run already go on."
      fields={['maxUnfinishedTasks', 'creates.quota', 'creates.windowSeconds']}
      body={() => ({ accountId, maxUnfinishedTasks: wholeOf(most), creates: rate })}
      onClose={onClose}
      onDone={({ maxUnfinishedTasks }) => toast(`${name} may have ${number(maxUnfinishedTasks)} unfinished tasks now`)}
    >
      {(faults) => (
        <>
          <TextField
            label="Unfinished tasks at once"
            inputMode="numeric"
            autocomplete="off"
            value={most}
            onValue={setMost}
            fault={faults['maxUnfinishedTasks']}
          />
          <CheckField
            label="A rate of its own for new tasks"
            hint="Without it the rate of the installation counts."
            isChecked={hasOwnRate}
            onValue={setOwnRate}
          />
          {hasOwnRate && (
            <div class="columns">
              <TextField
                label="Tasks"
                inputMode="numeric"
                autocomplete="off"
                value={quota}
                onValue={setQuota}
                fault={faults['creates.quota']}
              />
              <TextField
                label="In so many seconds"
                inputMode="numeric"
                autocomplete="off"
                value={seconds}
                onValue={setSeconds}
                fault={faults['creates.windowSeconds']}
              />
            </div>
          )}
        </>
      )}
    </ChangeDialog>
  );
}
