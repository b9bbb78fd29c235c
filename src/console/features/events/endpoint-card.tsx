import { useState } from 'preact/hooks';
import type { EventEndpoint } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useIsOwner, useNotAllowedReason } from '../../api/session.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { Badge } from '../../ui/controls/badge-and-state-dot.tsx';
import { OperatorViewAwareButton } from '../../ui/forms/operator-view-aware-button.tsx';
import { Plus, Send } from '../../ui/controls/icons.ts';
import { Loaded } from '../../ui/feedback/loaded-or-read-error.tsx';
import { Card, Facts } from '../../ui/page-card-facts-and-tiles.tsx';
import { EndpointDialog } from './endpoint-dialog.tsx';
import { eventsText as text, eventTypeWords } from './events-text.ts';
import { TestEventDialog } from './test-event-dialog.tsx';

/** The dialog replaces the endpoint, so it must not open with one that another owner has changed since. */
const endpointMs = 15_000;

/** The receiver of the account's events. */
export function EndpointCard() {
  const read = useRead('/api/v1/events/endpoint', {}, { everyMs: endpointMs });
  // The dialog belongs to the card: another read may replace the buttons that opened it.
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const endpoint = read.data?.endpoint ?? undefined;
  return (
    <Card title={text.endpoint}>
      <Loaded of={read} heights={[120]}>
        {(data) =>
          data.endpoint === null ? (
            <NoEndpoint onOpen={setOpened} />
          ) : (
            <EndpointFacts endpoint={data.endpoint} onOpen={setOpened} />
          )
        }
      </Loaded>
      {opened === 'test' && <TestEventDialog types={endpoint?.types ?? []} onClose={close} />}
      {opened === 'edit' && <EndpointDialog endpoint={endpoint} onClose={close} />}
      {opened === 'remove' && <RemoveDialog onClose={close} />}
    </Card>
  );
}

type Opened = 'test' | 'edit' | 'remove';
type OpenProps = { readonly onOpen: (dialog: Opened) => void };

function NoEndpoint({ onOpen }: OpenProps) {
  if (!useIsOwner()) return <p class="lead">{text.noneForMembers}</p>;
  return (
    <div class="stack">
      <p class="lead">{text.none}</p>
      <div class="row">
        <OperatorViewAwareButton variant="primary" onClick={() => onOpen('edit')}>
          <Plus size={16} aria-hidden="true" /> {text.add}
        </OperatorViewAwareButton>
      </div>
    </div>
  );
}

function EndpointFacts({ endpoint, onOpen }: OpenProps & { readonly endpoint: EventEndpoint }) {
  const { url, types } = endpoint;
  const [ownerReason, memberReason] = [useNotAllowedReason('owner'), useNotAllowedReason('member')];
  return (
    <div class="stack">
      <Facts
        facts={[
          [text.url, <bdi>{url}</bdi>],
          [
            text.listens,
            <span class="badges">
              {types.map((type) => (
                <span key={type} title={eventTypeWords(type)}>
                  <Badge>{type}</Badge>
                </span>
              ))}
            </span>,
          ],
        ]}
      />
      <div class="row">
        <OperatorViewAwareButton disabledReason={memberReason} onClick={() => onOpen('test')}>
          <Send size={16} aria-hidden="true" /> {text.test}
        </OperatorViewAwareButton>
        <OperatorViewAwareButton disabledReason={ownerReason} onClick={() => onOpen('edit')}>
          {text.edit}
        </OperatorViewAwareButton>
        <OperatorViewAwareButton variant="danger" disabledReason={ownerReason} onClick={() => onOpen('remove')}>
          {text.remove}
        </OperatorViewAwareButton>
      </div>
    </div>
  );
}

function RemoveDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <ActionDialog
      path="/api/v1/events/endpoint/remove"
      title={text.removeTitle}
      action={text.removeAction}
      isDanger
      body={() => ({})}
      done={text.removed}
      effect={text.removeEffect}
      onClose={onClose}
    />
  );
}
