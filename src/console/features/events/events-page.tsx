import { useIsOwner } from '../../api/session.ts';
import { Page } from '../../ui/page.tsx';
import { SigningSecret } from '../callbacks/signing-secret.tsx';
import { EndpointCard } from './endpoint-card.tsx';
import { EventList } from './event-list.tsx';
import { eventsText } from './events-text.ts';
import { ResendFailedEvents } from './resend-events.tsx';

/** The events of an account. Owners choose their receiver; everyone reads what was sent. */
export function EventsPage() {
  const isOwner = useIsOwner();
  return (
    <Page title={eventsText.title} lead={eventsText.lead} actions={<ResendFailedEvents />}>
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
