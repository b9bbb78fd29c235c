import { useState } from 'preact/hooks';
import { useRead } from '../../api/queries.ts';
import { useRoleReason } from '../../api/session.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { DialogButton } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { RotateCw } from '../../ui/icons.ts';
import { dayMs } from '../../ui/time.tsx';
import { redeliveryOptions, type RedeliveryPeriod } from '../callbacks/resend.tsx';
import { eventsText as text } from './events-text.ts';

/** Recovers from an outage of the receiver. Absent without an endpoint. */
export function ResendFailedEvents() {
  const [days, setDays] = useState<RedeliveryPeriod>('7');
  const { data } = useRead('/api/v1/events/endpoint', {});
  const viewerReason = useRoleReason('member');
  if (data === undefined || data.endpoint === null) return null;
  return (
    <DialogButton label={text.resendFailed} icon={RotateCw} disabledReason={viewerReason}>
      {(close) => (
        <ActionDialog
          path="/api/v1/events/redeliver-failed"
          title={text.resendFailed}
          action={text.resend}
          body={() => ({ since: Date.now() - Number(days) * dayMs })}
          done={({ redelivered, hasMore }) => text.resentMany(redelivered, hasMore)}
          onClose={close}
        >
          <p>{text.resendEffect}</p>
          <SelectField label={text.happenedWithin} value={days} options={redeliveryOptions} onValue={setDays} />
        </ActionDialog>
      )}
    </DialogButton>
  );
}
