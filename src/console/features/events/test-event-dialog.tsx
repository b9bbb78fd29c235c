import { useState } from 'preact/hooks';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { InfoDialog } from '../../ui/forms/dialog.tsx';
import { SelectField } from '../../ui/forms/form-fields.tsx';
import { TestDeliveryOutcome } from '../callbacks/test-callback-card.tsx';
import { type EventType, eventsText as text, eventTypes, eventTypeWords } from './events-text.ts';

const options = eventTypes.map((value) => ({ value, label: eventTypeWords(value) }));

type DialogProps = { readonly types: readonly EventType[]; readonly onClose: () => void };

/** Sends a sample of an event to the endpoint and shows its response. */
export function TestEventDialog({ types, onClose }: DialogProps) {
  const [type, setType] = useState<EventType>(types[0] ?? 'task.succeeded');
  return (
    <ActionDialog
      path="/api/v1/events/test"
      title={text.testTitle}
      action={text.testSend}
      changes={[]}
      body={() => ({ type })}
      result={({ status }) => (
        <InfoDialog title={text.testOutcome} onClose={onClose}>
          <TestDeliveryOutcome status={status} />
        </InfoDialog>
      )}
      onClose={onClose}
    >
      <p class="soft">{text.testLead}</p>
      <SelectField label={text.type} name="type" value={type} options={options} onValue={setType} />
    </ActionDialog>
  );
}
