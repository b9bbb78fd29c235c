import type { Event } from '../../api/contract.ts';
import { number } from '../../ui/money.tsx';

// Every text of the page about the events of an account.

export type EventType = Event['type'];

export const eventTypes = [
  'task.succeeded',
  'task.failed',
  'task.cancelled',
  'balance.low',
  'key.cap_reached',
] as const;

export const eventsText = {
  title: 'Webhooks',
  lead: 'Events of the whole account, sent to one endpoint of yours as they happen.',
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
  ownersOnly: 'Owners manage the endpoint and its secret.',
  add: 'Add endpoint',
  edit: 'Edit',
  editTitle: 'Edit endpoint',
  save: 'Save endpoint',
  saved: 'Endpoint saved',
  url: 'Endpoint URL',
  urlHint: 'Must be reachable from the internet. Events that are pending go to the new URL.',
  listens: 'Events',
  thresholdHint:
    'Owners set the low-balance threshold on the Credits page. Each time that the balance falls below it is one event.',
  remove: 'Remove',
  removeTitle: 'Remove the endpoint?',
  removeAction: 'Remove endpoint',
  removeEffect:
    'No further events are recorded, and pending ones are no longer sent. You can add an endpoint again at any time.',
  removed: 'Endpoint removed',
  test: 'Send test event',
  testTitle: 'Send a test event',
  testLead: 'Sends one signed event with sample data and waits for the response, up to 15 seconds.',
  testSend: 'Send event',
  testOutcome: 'Test event',
  done: 'Done',

  type: 'Type',
  allTypes: 'All types',
  event: 'Event',
  happened: 'Happened',
  emptyTitle: 'No events yet',
  empty: 'Once an endpoint is set, events are listed here with each attempt to deliver them.',
  details: 'Details',
  detailsOf: (type: string) => `Details of ${type}`,
  eventId: 'Event ID',
  task: 'Task',
  resend: 'Resend',
  resent: 'Event is being resent',
  resendFailed: 'Resend failed events',
  resendEffect:
    'An event has failed when all attempts over three days got no 2xx response. Receivers recognize duplicates by their webhook-id.',
  happenedWithin: 'Events of the',
  resentMany: (count: number, hasMore: boolean) => {
    if (count === 0) return 'No event failed in this period';
    const sent = count === 1 ? '1 event is being resent' : `${number(count)} events are being resent`;
    return hasMore ? `${sent}. There are more: resend again` : sent;
  },
} as const;

/** The sentence of a type, also of one that is newer than this page. */
export function typeWords(type: string): string {
  const words: Readonly<Record<string, string>> = eventsText.types;
  return words[type] ?? type;
}
