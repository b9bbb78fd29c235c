import { useState } from 'preact/hooks';
import { failureOf } from '../../api/problem.ts';
import { useSend } from '../../api/queries.ts';
import { useIsOperator, useRoleReason } from '../../api/session.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { DialogButton } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { RotateCw } from '../../ui/icons.ts';
import { dayMs } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { callbacksText } from './callbacks-text.ts';

/** Asks for no confirmation: a receiver recognizes a duplicate by its `webhook-id`. */
export function ResendButton({ taskId }: { readonly taskId: string }) {
  const isOperator = useIsOperator();
  const viewerReason = useRoleReason('member');
  const resend = useSend(isOperator ? '/api/admin/v1/callbacks/redeliver' : '/api/v1/callbacks/redeliver', {
    onDone: () => toast(callbacksText.resent),
  });
  return (
    <Button
      size="small"
      busy={resend.isPending}
      disabledReason={isOperator ? undefined : viewerReason}
      onClick={() => resend.mutate({ taskId }, { onError: (error) => toast(failureOf(error).sentence, 'bad') })}
    >
      <RotateCw size={14} aria-hidden="true" /> {callbacksText.resend}
    </Button>
  );
}

// A callback is retried for three days before it has failed: shorter periods would hold none.
const periods = ['7', '14', '30'] as const;
const options = periods.map((value) => ({ value, label: callbacksText.days(Number(value)) }));

/** For the time after an outage of the receiver. */
export function ResendFailedButton() {
  const [days, setDays] = useState<(typeof periods)[number]>('7');
  return (
    <DialogButton label={callbacksText.resendFailed} icon={RotateCw} disabledReason={useRoleReason('member')}>
      {(close) => (
        <ActionDialog
          path="/api/v1/callbacks/redeliver-failed"
          title={callbacksText.resendFailed}
          action={callbacksText.resend}
          body={() => ({ since: Date.now() - Number(days) * dayMs })}
          done={({ redelivered, hasMore }) => callbacksText.resentMany(redelivered, hasMore)}
          onClose={close}
        >
          <p>{callbacksText.resendSays}</p>
          <SelectField label={callbacksText.endedWithin} value={days} options={options} onValue={setDays} />
        </ActionDialog>
      )}
    </DialogButton>
  );
}
