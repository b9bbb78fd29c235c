import { useEffect, useState } from 'preact/hooks';
import type { Event } from '../../api/contract.ts';
import { useNotAllowedReason } from '../../api/session.ts';
import { WordWithDot } from '../../ui/controls/badge-and-state-dot.tsx';
import { CopyId } from '../../ui/controls/copy-button.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { InfoDialog } from '../../ui/forms/dialog.tsx';
import { choiceFilter } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { Bell, RotateCw } from '../../ui/controls/icons.ts';
import { List } from '../../ui/lists/list.tsx';
import { Facts } from '../../ui/page-card-facts-and-tiles.tsx';
import { ImmediateActionButton } from '../../ui/forms/immediate-action-button.tsx';
import { actionColumnProps, type Column } from '../../ui/lists/table.tsx';
import { ExactTime, Time } from '../../ui/times-and-durations.tsx';
import { callbacksText, callbackStateWordAndTone } from '../callbacks/callbacks-text.ts';
import {
  Attempts,
  deliveryStateFilter,
  deliveryPollMs,
  nextAttemptColumn,
  lastResponseColumn,
  deliveryStateColumn,
} from '../callbacks/delivery-columns-and-attempts.tsx';
import { TaskLink } from '../tasks/task-link.tsx';
import { eventsText as text, eventTypes, eventTypeWords } from './events-text.ts';

/** The events of the account with the state of their delivery. */
export function EventList() {
  // The dialog belongs to the list: another read may remove the row whose button opened it.
  const [opened, setOpened] = useState<Event>();
  return (
    <>
      <List
        noun={text.noun}
        path="/api/v1/events"
        query={{ limit: 30 }}
        rows={({ events }) => events}
        rowKey={({ eventId }) => eventId}
        columns={columnsOf(opened?.eventId, setOpened)}
        filters={filters}
        everyMs={(page) => deliveryPollMs(page?.events)}
        empty={{ icon: Bell, title: text.emptyTitle, text: text.empty }}
      />
      {opened !== undefined && <DetailsDialog event={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}

const filters = [
  deliveryStateFilter,
  choiceFilter({ name: 'type', label: text.type, all: text.allTypes, values: eventTypes, word: eventTypeWords }),
];

const columnsOf = (openId: string | undefined, onOpen: (event: Event) => void): readonly Column<Event>[] => [
  {
    title: text.event,
    kind: 'head',
    cell: ({ type, taskId }) => (
      <>
        <code>{type}</code>
        {taskId !== null && (
          <small class="under">
            <TaskLink taskId={taskId} />
          </small>
        )}
      </>
    ),
  },
  deliveryStateColumn,
  lastResponseColumn,
  nextAttemptColumn,
  { title: text.happened, kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
  {
    ...actionColumnProps,
    cell: (event) => <Actions event={event} isOpen={event.eventId === openId} onOpen={onOpen} />,
  },
];

type EventProps = { readonly event: Event };

type ActionsProps = EventProps & { readonly isOpen: boolean; readonly onOpen: (event: Event) => void };

function Actions({ event, isOpen, onOpen }: ActionsProps) {
  // The open dialog shows the latest read of its event.
  useEffect(() => {
    if (isOpen) onOpen(event);
  }, [isOpen, event]);
  return (
    <span class="row end">
      <Button size="small" aria-label={text.detailsOf(event.type)} onClick={() => onOpen(event)}>
        {text.details}
      </Button>
      <ImmediateActionButton
        path="/api/v1/events/redeliver"
        body={{ eventId: event.eventId }}
        done={text.resent}
        size="small"
        disabledReason={useNotAllowedReason('member')}
      >
        <RotateCw size={14} aria-hidden="true" /> {text.resend}
      </ImmediateActionButton>
    </span>
  );
}

function DetailsDialog({ event, onClose }: EventProps & { readonly onClose: () => void }) {
  const { eventId, type, taskId, url, webhookId, createTime, attempts } = event;
  return (
    <InfoDialog title={type} isWide onClose={onClose}>
      <Facts
        facts={[
          [text.event, eventTypeWords(type)],
          [callbacksText.state, <WordWithDot of={callbackStateWordAndTone(event.state)} />],
          [text.task, taskId === null ? undefined : <TaskLink taskId={taskId} />],
          [callbacksText.sentTo, <bdi>{url}</bdi>],
          [callbacksText.webhookId, <CopyId id={webhookId} label={callbacksText.copyWebhookId} />],
          [text.happened, <ExactTime ms={createTime} />],
        ]}
      />
      <Attempts deliveryId={eventId} attempts={attempts} />
    </InfoDialog>
  );
}
