import { useRead } from '../../api/read-and-send-hooks.ts';
import { useIsOwner } from '../../api/session.ts';
import { Page } from '../../ui/page-card-facts-and-tiles.tsx';
import { ResendFailedDeliveriesButton } from '../callbacks/resend-buttons.tsx';
import { SigningSecret } from '../callbacks/signing-secret.tsx';
import { EndpointCard } from './endpoint-card.tsx';
import { EventList } from './event-list.tsx';
import { eventsText as text } from './events-text.ts';

/** The events of an account. Owners choose their receiver; everyone reads what was sent. */
export function EventsPage() {
  const isOwner = useIsOwner();
  const endpoint = useRead('/api/v1/events/endpoint', {}).data?.endpoint ?? null;
  const resend =
    endpoint === null ? undefined : <ResendFailedDeliveriesButton path="/api/v1/events/redeliver-failed" text={text} />;
  return (
    <Page lead={text.lead} actions={resend}>
      {isOwner ? (
        <div class="columns even">
          <EndpointCard />
          <SigningSecret of="events" />
        </div>
      ) : (
        <EndpointCard />
      )}
      <EventList />
    </Page>
  );
}
