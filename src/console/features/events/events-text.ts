import type { Event } from '../../api/contract.ts';
import { labelOrName } from '../../ui/controls/words-and-tones.ts';
import { resentWords } from '../callbacks/callbacks-text.ts';

// Every text of the page about the events of an account.

export type EventType = Event['type'];

export const eventsText = {
  lead: 'Account events, sent to your endpoint as they happen.',
  noun: ['event', 'events'],
  types: {
    'task.succeeded': 'A task succeeded',
    'task.failed': 'A task failed',
    'task.cancelled': 'A task was cancelled',
    'balance.low': 'The balance fell below a threshold',
    'key.cap_reached': 'A spend limit was reached',
  } satisfies Record<EventType, string>,

  endpoint: 'Endpoint',
  none: 'Add an endpoint to be notified when tasks end, credits run low or a spend limit is reached.',
  noneForMembers: 'No endpoint yet. Owners of this account can add one.',
  add: 'Add endpoint',
  edit: 'Edit',
  editTitle: 'Edit endpoint',
  save: 'Save endpoint',
  saved: 'Endpoint saved',
  url: 'Endpoint URL',
  urlHint: 'Must be reachable from the internet. Pending events go to the new URL.',
  listens: 'Events',
  thresholdHint:
    'Owners set the low-balance threshold on the Credits page. One event is sent each time the balance falls below it.',
  remove: 'Remove',
  removeTitle: 'Remove the endpoint?',
  removeAction: 'Remove endpoint',
  removeEffect:
    'Events are no longer recorded, and pending ones aren’t sent. You can add an endpoint again at any time.',
  removed: 'Endpoint removed',
  test: 'Send test event',
  testTitle: 'Send a test event',
  testLead: 'Sends one signed event with sample data, and waits up to 15 seconds for the response.',
  testSend: 'Send event',
  testOutcome: 'Test event',

  type: 'Type',
  allTypes: 'All types',
  event: 'Event',
  happened: 'Happened',
  emptyTitle: 'No events yet',
  empty: 'Once an endpoint is set, events are listed here with each attempt to deliver them.',
  details: 'Details',
  detailsOf: (type: string) => `Details of ${type}`,
  task: 'Task',
  resend: 'Resend',
  resent: 'Event is being resent',
  resendFailed: 'Resend failed events',
  resendEffect:
    'Resends events that got no 2xx response in three days of attempts. Receivers recognize duplicates by their webhook-id.',
  resendWithin: 'Events of the',
  resentMany: (count: number, hasMore: boolean) => resentWords('event', count, hasMore),
} as const;

// The keys are those of the type.
export const eventTypes = Object.keys(eventsText.types) as readonly EventType[];

/** The sentence of a type. */
export const eventTypeWords = (type: string) => labelOrName(eventsText.types, type);
