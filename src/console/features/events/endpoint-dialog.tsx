import { useState } from 'preact/hooks';
import type { EventEndpoint } from '../../api/contract.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { CheckField, TextField } from '../../ui/forms/field.tsx';
import { useFields } from '../../ui/forms/form.tsx';
import { eventsText as text, eventTypes, typeWords } from './events-text.ts';

type DialogProps = { readonly endpoint: EventEndpoint | undefined; readonly onClose: () => void };

/** Sets the receiver and the types of its events. A new endpoint listens to the ends of tasks. */
export function EndpointDialog({ endpoint, onClose }: DialogProps) {
  const { values, field } = useFields({ url: endpoint?.url ?? '' });
  const [types, setTypes] = useState(() => new Set(endpoint?.types ?? eventTypes.slice(0, 3)));
  return (
    <ActionDialog
      path="/api/v1/events/endpoint"
      title={endpoint === undefined ? text.add : text.editTitle}
      action={text.save}
      body={() => ({ url: values.url.trim(), types: eventTypes.filter((type) => types.has(type)) })}
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
      <fieldset class="field">
        <legend>{text.listens}</legend>
        {eventTypes.map((type, index) => (
          <CheckField
            key={type}
            label={
              <>
                {typeWords(type)} <code class="soft">{type}</code>
              </>
            }
            // One error for the list of types, beside its first box.
            name={index === 0 ? 'types' : undefined}
            isChecked={types.has(type)}
            onValue={(isChecked) =>
              setTypes((before) => new Set(isChecked ? [...before, type] : [...before].filter((one) => one !== type)))
            }
          />
        ))}
      </fieldset>
      {types.has('balance.low') && <p class="soft">{text.thresholdHint}</p>}
    </ActionDialog>
  );
}
