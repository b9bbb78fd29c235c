import { ScrollText } from '../../ui/controls/icons.ts';
import { List } from '../../ui/lists/list.tsx';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { ExactTime } from '../../ui/times-and-durations.tsx';
import { deviceNameOf } from './device-name.ts';
import { securityEventLabel, securityText } from './security-text.ts';

const text = securityText.events;

/** The events of an account's people, as a card. */
export function AccountSecurityEventsCard() {
  return (
    <Card title={text.title} isFlush>
      <SecurityEvents path="/api/console/v1/events" />
    </Card>
  );
}

type EventsProps = { readonly path: '/api/console/v1/events' | '/api/admin/v1/people/events' };

/** Sign-ins, links, roles and ended sessions: of an account's people, or of everyone. */
export function SecurityEvents({ path }: EventsProps) {
  return (
    <List
      noun={text.nouns}
      caption={text.caption}
      path={path}
      query={{ limit: 20 }}
      rows={({ events }) => events}
      rowKey={({ eventId }) => eventId}
      empty={{ icon: ScrollText, title: text.none }}
      columns={[
        { title: text.columns.event, kind: 'head', cell: ({ kind }) => securityEventLabel(kind) },
        {
          title: text.columns.person,
          isWide: true,
          cell: ({ email, actor }) => (actor === null ? (email ?? '–') : text.byActor(email ?? '–', actor)),
        },
        {
          title: text.columns.from,
          cell: ({ address, userAgent }) => [address, deviceNameOf(userAgent)].filter(Boolean).join(', ') || '–',
        },
        { title: text.columns.time, kind: 'end', cell: ({ createTime }) => <ExactTime ms={createTime} /> },
      ]}
    />
  );
}
