import type { Query } from '../../api/call.ts';
import type { Event } from '../../api/contract.ts';
import { useRoleReason } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog, DialogActions, DialogBody, DialogButton } from '../../ui/dialog.tsx';
import type { Filter } from '../../ui/filters.tsx';
import { Bell, RotateCw } from '../../ui/icons.ts';
import { List } from '../../ui/list.tsx';
import { Facts } from '../../ui/page.tsx';
import { SendButton } from '../../ui/send-button.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { duration, ExactTime, Time } from '../../ui/time.tsx';
import { CallbackState, ResponseStatus } from '../callbacks/callback-card.tsx';
import { callbacksText, callbackWord } from '../callbacks/callbacks-text.ts';
import { TaskLink } from '../tasks/task-link.tsx';
import { eventsText as text, eventTypes, typeWords } from './events-text.ts';

/** The events of the account with the state of their delivery. */
export function EventList() {
  return (
    <List
      noun={text.noun}
      path="/api/v1/events"
      query={{ limit: 30 }}
      rows={({ events }) => events}
      rowKey={({ eventId }) => eventId}
      columns={columns}
      filters={filters}
      everyMs={(page) => (page?.events.some(({ state }) => state === 'pending') === true ? 3000 : 15_000)}
      empty={{ icon: Bell, title: text.emptyTitle, children: <p>{text.empty}</p> }}
    />
  );
}

const states = ['pending', 'delivered', 'failed', 'rejected'] as const;

const filters: readonly Filter<Query<'/api/v1/events'>>[] = [
  {
    name: 'state',
    label: callbacksText.state,
    control: 'tabs',
    options: [
      { value: '', label: callbacksText.all },
      ...states.map((value) => ({ value, label: callbackWord(value).word })),
    ],
    query: (value) => {
      const state = states.find((one) => one === value);
      return state === undefined ? {} : { state };
    },
  },
  {
    name: 'type',
    label: text.type,
    options: [{ value: '', label: text.allTypes }, ...eventTypes.map((value) => ({ value, label: typeWords(value) }))],
    query: (value) => {
      const type = eventTypes.find((one) => one === value);
      return type === undefined ? {} : { type };
    },
  },
];

const { columns: titles } = callbacksText;

const columns: readonly Column<Event>[] = [
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
  { title: titles.state, kind: 'shrink', cell: ({ state }) => <CallbackState state={state} /> },
  {
    title: titles.response,
    kind: 'shrink',
    cell: ({ attempts: [last] }) => (last === undefined ? callbacksText.noAttempt : <ResponseStatus attempt={last} />),
  },
  {
    title: titles.next,
    kind: 'end',
    cell: ({ nextAttemptTime }) => (nextAttemptTime === null ? '–' : <Time ms={nextAttemptTime} />),
  },
  { title: text.happened, kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
  { title: titles.actions, kind: 'actions', cell: (event) => <Actions event={event} /> },
];

type EventProps = { readonly event: Event };

function Actions({ event }: EventProps) {
  return (
    <span class="row end">
      <DialogButton label={text.details} isReading size="small" aria-label={text.detailsOf(event.type)}>
        {(close) => <DetailsDialog event={event} onClose={close} />}
      </DialogButton>
      <SendButton
        path="/api/v1/events/redeliver"
        body={{ eventId: event.eventId }}
        done={text.resent}
        size="small"
        disabledReason={useRoleReason('member')}
      >
        <RotateCw size={14} aria-hidden="true" /> {text.resend}
      </SendButton>
    </span>
  );
}

function DetailsDialog({ event, onClose }: EventProps & { readonly onClose: () => void }) {
  const { type, taskId, url, webhookId, createTime, attempts } = event;
  return (
    <Dialog title={type} isWide onClose={onClose}>
      <DialogBody>
        <Facts
          facts={[
            [text.event, typeWords(type)],
            [callbacksText.state, <CallbackState state={event.state} />],
            [text.task, taskId === null ? undefined : <TaskLink taskId={taskId} />],
            [callbacksText.sentTo, <bdi>{url}</bdi>],
            [
              callbacksText.webhookId,
              <span class="id">
                <code>{webhookId}</code>
                <CopyButton text={webhookId} label={callbacksText.copyWebhookId} />
              </span>,
            ],
            [text.happened, <ExactTime ms={createTime} />],
          ]}
        />
        {attempts.length > 0 && <Attempts attempts={attempts} />}
      </DialogBody>
      <DialogActions>
        <Button variant="primary" onClick={onClose}>
          {text.done}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function Attempts({ attempts }: Pick<Event, 'attempts'>) {
  return (
    <Table
      caption={callbacksText.attempts}
      rows={attempts}
      rowKey={({ attempt }) => attempt}
      columns={[
        { title: callbacksText.attempt, kind: 'head', cell: ({ attempt }) => `#${attempt}` },
        { title: callbacksText.response, cell: (attempt) => <ResponseStatus attempt={attempt} /> },
        {
          title: callbacksText.duration,
          kind: 'end',
          cell: ({ durationMs }) => (durationMs === null ? '–' : duration(durationMs)),
        },
        { title: callbacksText.time, kind: 'end', cell: ({ startTime }) => <Time ms={startTime} /> },
      ]}
    />
  );
}
