import type { Callback } from '../../api/contract.ts';
import { wordAndToneOf } from '../../ui/controls/words-and-tones.ts';
import { type WordAndTone } from '../../ui/controls/words-and-tones.ts';
import { formatNumber } from '../../ui/number-formats.tsx';

// Every text of callbacks.

const stateWords: Readonly<Record<Callback['state'], WordAndTone>> = {
  pending: { word: 'Pending', tone: 'live' },
  delivered: { word: 'Delivered', tone: 'good' },
  failed: { word: 'Failed', tone: 'bad' },
  rejected: { word: 'Rejected (410 Gone)', tone: 'warn' },
};

export const callbackStateWordAndTone = (state: string) => wordAndToneOf(stateWords, state);

export function resentWords(noun: 'callback' | 'event', count: number, hasMore: boolean): string {
  if (count === 0) return `No ${noun} failed in this period`;
  const sent = count === 1 ? `1 ${noun} is being resent` : `${formatNumber(count)} ${noun}s are being resent`;
  return hasMore ? `${sent}. There are more: resend again` : sent;
}

export const callbacksText = {
  lead: 'Requests to your own URLs when tasks end, and their responses.',
  leadOfOperators:
    'Undelivered callbacks and events of all accounts. They aren’t retried: resend callbacks here; accounts resend their events.',
  noun: ['callback', 'callbacks'],
  state: 'State',
  all: 'All',
  emptyTitle: 'No callbacks yet',
  emptyBefore: 'Add',
  emptyAfter:
    'to a request, and the task record is posted there when the task ends. Responses other than 2xx are retried for three days.',
  tryIt: 'Try it in the playground',
  emptyTitleOfOperators: 'No failed callbacks',
  emptyOfOperators: 'Every callback and event was delivered or is still being retried.',
  columns: {
    account: 'Account',
    url: 'URL',
    state: 'State',
    response: 'Last response',
    attempts: 'Attempts',
    next: 'Next attempt',
    ended: 'Task ended',
    occurred: 'Occurred',
  },
  noAttempt: 'None yet',

  callback: 'Callback',
  sentTo: 'Sent to',
  webhookId: 'webhook-id',
  copyWebhookId: 'Copy webhook-id',
  redeliveries: 'Redeliveries',
  attempts: 'Attempts',
  attempt: 'Attempt',
  response: 'Response',
  duration: 'Duration',
  time: 'Time',
  redirected: 'Redirects aren’t followed. Use the URL that it leads to.',
  errors: {
    unreachable: 'No public address found',
    refused: 'Connection refused',
    tls: 'TLS failed',
    timeout: 'Timed out',
    closed: 'Connection closed',
  },
  http: (status: number) => `HTTP ${status}`,
  request: 'Request',
  requestOf: (attempt: number) => `Request of attempt ${attempt}`,
  responseOf: (attempt: number) => `Response to attempt ${attempt}`,
  exchange: 'Request and response',
  noResponse: 'The receiver sent no response.',
  privateResponse: 'Responses of receivers in a private network are shown to operators only.',
  notRecorded: 'Not recorded.',
  bodyCut: 'Only the beginning of the body is stored.',
  verifyOne: 'Verify this callback',

  resend: 'Resend',
  resent: 'Callback is being resent',
  resendFailed: 'Resend failed callbacks',
  resendEffect:
    'Resends callbacks that got no 2xx response in three days of attempts. Receivers recognize duplicates by their webhook-id.',
  resendWithin: 'Tasks that ended in the',
  days: (days: number) => `last ${days} days`,
  resentMany: (count: number, hasMore: boolean) => resentWords('callback', count, hasMore),

  secret: 'Signing secret',
  secretLeads: {
    callbacks: 'Every callback is signed as a Standard Webhook. Verify the signature with this secret.',
    events:
      'Every event is signed as a Standard Webhook, with another secret than callbacks. Verify the signature with it.',
  },
  reveal: 'Reveal secret',
  revealTitle: 'Reveal the signing secret?',
  revealEffect: 'You can see it only once. Have the secret store of your receiver ready.',
  rotate: 'Rotate secret',
  rotateTitle: 'Rotate the signing secret?',
  rotateEffect: 'You can see the new secret only once. While the old one is valid, callbacks carry both signatures.',
  keepOld: 'Keep the old secret valid for',
  overlaps: { '86400': '1 day', '3600': '1 hour', '0': 'Revoke immediately' },
  yourSecret: 'Your signing secret',
  secretNoun: 'secret',
  storeIt: 'Store it where your receiver reads its secrets.',
  howToVerify: { callbacks: 'How to verify a callback', events: 'How to verify an event' },

  test: 'Send a test',
  testUrl: 'Receiver URL',
  testHint: 'Sends one signed example. Nothing is charged.',
  sendTest: 'Send test',
  testUnreachable: 'Couldn’t reach the receiver',
  testUnreachableAdvice: 'Check the URL, and that it’s reachable from the internet.',
  testStatus: (status: number) => `The receiver responded with HTTP ${status}`,
  testFailed: 'Only 2xx responses count as delivered.',
} as const;
