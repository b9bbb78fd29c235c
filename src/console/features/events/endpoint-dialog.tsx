import { useState } from 'preact/hooks';
import type { EventEndpoint } from '../../api/contract.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { CheckList, TextField } from '../../ui/forms/form-fields.tsx';
import { useFields } from '../../ui/forms/form.tsx';
import { type EventType, eventsText as text, eventTypes, eventTypeWords } from './events-text.ts';

type DialogProps = { readonly endpoint: EventEndpoint | undefined; readonly onClose: () => void };

/** Sets the receiver and the types of its events. A new endpoint listens to the ends of tasks. */
export function EndpointDialog({ endpoint, onClose }: DialogProps) {
  const { values, field } = useFields({ url: endpoint?.url ?? '' });
  const [types, setTypes] = useState<readonly EventType[]>(
    endpoint?.types ?? eventTypes.filter((type) => type.startsWith('task.')),
  );
  return (
    <ActionDialog
      path="/api/v1/events/endpoint"
      title={endpoint === undefined ? text.add : text.editTitle}
      action={text.save}
      body={() => ({ url: values.url.trim(), types: eventTypes.filter((type) => types.includes(type)) })}
      changes={['/api/v1/events/endpoint', '/api/v1/events']}
      done={text.saved}
      onClose={onClose}
    >
      <TextField
        label={text.url}
        type="url"
        required
        placeholder="https://example.com/webhooks"
        hint={text.urlHint}
        {...field('url')}
      />
      <CheckList
        label={text.listens}
        name="types"
        options={eventTypes}
        chosen={types}
        wordsOf={(type) => (
          <>
            {eventTypeWords(type)} <code class="soft">{type}</code>
          </>
        )}
        onChosen={setTypes}
      />
      {types.includes('balance.low') && <p class="soft">{text.thresholdHint}</p>}
    </ActionDialog>
  );
}
