import { useState } from 'preact/hooks';
import { useIsOperatorPage, useNotAllowedReason } from '../../api/session.ts';
import { ActionButton } from '../../ui/forms/action-dialog.tsx';
import { SelectField } from '../../ui/forms/form-fields.tsx';
import { RotateCw } from '../../ui/controls/icons.ts';
import { ImmediateActionButton } from '../../ui/forms/immediate-action-button.tsx';
import { dayMs } from '../../ui/times-and-durations.tsx';
import { callbacksText } from './callbacks-text.ts';

/** Needs no confirmation, because a receiver recognizes a duplicate by its `webhook-id`. */
export function ResendCallbackButton({ taskId }: { readonly taskId: string }) {
  const isOperator = useIsOperatorPage();
  const memberReason = useNotAllowedReason('member');
  return (
    <ImmediateActionButton
      path={isOperator ? '/api/admin/v1/callbacks/redeliver' : '/api/v1/callbacks/redeliver'}
      body={{ taskId }}
      done={callbacksText.resent}
      size="small"
      disabledReason={isOperator ? undefined : memberReason}
    >
      <RotateCw size={14} aria-hidden="true" /> {callbacksText.resend}
    </ImmediateActionButton>
  );
}

// A delivery is retried for three days before it has failed: shorter periods would hold none.
const periods = ['7', '14', '30'] as const;
const options = periods.map((value) => ({ value, label: callbacksText.days(Number(value)) }));

type ResendProps = {
  readonly path: '/api/v1/callbacks/redeliver-failed' | '/api/v1/events/redeliver-failed';
  readonly text: Pick<typeof callbacksText, 'resend' | 'resentMany'> &
    Readonly<Record<'resendFailed' | 'resendEffect' | 'resendWithin', string>>;
};

/** Recovers from an outage of the receiver. */
export function ResendFailedDeliveriesButton({ path, text }: ResendProps) {
  const [days, setDays] = useState<(typeof periods)[number]>('7');
  return (
    <ActionButton
      button={{ label: text.resendFailed, icon: RotateCw, disabledReason: useNotAllowedReason('member') }}
      path={path}
      title={text.resendFailed}
      action={text.resend}
      body={() => ({ since: Date.now() - Number(days) * dayMs })}
      done={({ redelivered, hasMore }) => text.resentMany(redelivered, hasMore)}
    >
      <p>{text.resendEffect}</p>
      <SelectField label={text.resendWithin} value={days} options={options} onValue={setDays} />
    </ActionButton>
  );
}
