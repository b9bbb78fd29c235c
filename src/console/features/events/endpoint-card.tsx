import type { EventEndpoint } from '../../api/contract.ts';
import { useRead } from '../../api/queries.ts';
import { useIsOwner, useRoleReason } from '../../api/session.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { Badge } from '../../ui/badge.tsx';
import { DialogButton } from '../../ui/dialog.tsx';
import { Plus, Send } from '../../ui/icons.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import { EndpointDialog } from './endpoint-dialog.tsx';
import { eventsText as text, typeWords } from './events-text.ts';
import { TestEventDialog } from './test-event.tsx';

/** The dialog replaces the endpoint, so it must not open with one that another owner has changed since. */
const endpointMs = 15_000;

/** The receiver of the account's events. */
export function EndpointCard() {
  const endpoint = useRead('/api/v1/events/endpoint', {}, { everyMs: endpointMs });
  return (
    <Card title={text.endpoint}>
      <Loaded of={endpoint} heights={[120]}>
        {(data) => (data.endpoint === null ? <NoEndpoint /> : <EndpointFacts endpoint={data.endpoint} />)}
      </Loaded>
    </Card>
  );
}

function NoEndpoint() {
  if (!useIsOwner()) return <p class="lead">{text.noneForMembers}</p>;
  return (
    <div class="stack">
      <p class="lead">{text.none}</p>
      <div class="row">
        <DialogButton label={text.add} icon={Plus} variant="primary">
          {(close) => <EndpointDialog endpoint={undefined} onClose={close} />}
        </DialogButton>
      </div>
    </div>
  );
}

function EndpointFacts({ endpoint }: { readonly endpoint: EventEndpoint }) {
  const { url, types } = endpoint;
  const [ownerReason, memberReason] = [useRoleReason('owner'), useRoleReason('member')];
  return (
    <div class="stack">
      <Facts
        facts={[
          [text.url, <bdi>{url}</bdi>],
          [
            text.listens,
            <span class="badges">
              {types.map((type) => (
                <span key={type} title={typeWords(type)}>
                  <Badge>{type}</Badge>
                </span>
              ))}
            </span>,
          ],
        ]}
      />
      <div class="row">
        <DialogButton label={text.test} icon={Send} disabledReason={memberReason}>
          {(close) => <TestEventDialog types={types} onClose={close} />}
        </DialogButton>
        <DialogButton label={text.edit} disabledReason={ownerReason}>
          {(close) => <EndpointDialog endpoint={endpoint} onClose={close} />}
        </DialogButton>
        <DialogButton label={text.remove} variant="danger" disabledReason={ownerReason}>
          {(close) => <RemoveDialog onClose={close} />}
        </DialogButton>
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
      onClose={onClose}
    >
      <p>{text.removeEffect}</p>
    </ActionDialog>
  );
}
