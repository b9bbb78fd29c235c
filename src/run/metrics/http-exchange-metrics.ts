import type { RequestFinishedEvent } from '../../api/core/middleware/observe-requests.ts';
import { moderationOutcomes, type ContentCheckedEvent } from '../../providers/moderation/moderator.ts';
import {
  paymentOutcomes,
  type PaymentSettledMetricEvent,
} from '../../credits/payments/apply-payments-and-reversals.ts';
import type { RequestsDropped } from '../../library/request-log/request-log-buffer.ts';
import type { TaskEvent } from '../../tasks/task-metric-events.ts';
import { type EventMetric, createOnFieldMaker, requestBuckets } from './metric-declaration.ts';

const callbackOutcomes = ['delivered', 'rejected', 'refused', 'unreachable'] as const;

export type HttpExchangeMetricEvent =
  | RequestFinishedEvent
  | RequestsDropped
  | ContentCheckedEvent
  | PaymentSettledMetricEvent;

const on = createOnFieldMaker<HttpExchangeMetricEvent | TaskEvent>();

/** Bucket bounds in seconds, up to the time limit of an attempt. */
const callbackBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** Requests of clients and their log, and exchanges with receivers of callbacks, the moderation hook and the payment provider. */
export const httpExchangeMetrics: readonly EventMetric[] = [
  {
    type: 'counter',
    name: 'videogen_http_requests_total',
    help: 'Finished requests by route pattern; status aborted: the client disconnected before the response',
    labels: ['route', 'method', 'status'],
    process: 'API',
    actWhen:
      '5xx are above 1 % for 5 minutes ([runbook](runbooks.md#videogenrequestsfail)). Status `aborted`: the client disconnected',
    on: on('request_finished', ({ route, method, status }) => [{ route, method, status }, 1]),
  },
  {
    type: 'histogram',
    name: 'videogen_http_request_duration_seconds',
    help: 'Duration of requests, except long polls',
    labels: ['route', 'method'],
    process: 'API',
    actWhen:
      'the 99th percentile of createTask is above 1 s for 10 minutes ([runbook](runbooks.md#videogencreatesslow))',
    buckets: requestBuckets,
    on: on('request_finished', ({ route, method, durationSeconds }) =>
      durationSeconds === undefined ? undefined : [{ route, method }, durationSeconds],
    ),
  },
  {
    type: 'counter',
    name: 'videogen_logged_requests_dropped_total',
    help: 'Finished requests that are missing in the request log of their account',
    process: 'API',
    actWhen: 'grows: the database is unavailable or slow for long',
    zeros: [{}],
    on: on('logged_requests_dropped', ({ requests }) => [{}, requests]),
  },
  {
    type: 'counter',
    name: 'videogen_moderation_checks_total',
    help: 'Checks of content before a charge; error: no usable answer in time, so onError decided',
    labels: ['outcome'],
    process: 'API',
    actWhen:
      '`error` is above 4, and above 5 %, in 15 minutes: creates are refused or accepted unchecked ' +
      '([runbook](runbooks.md#videogenmoderationfails))',
    zeros: moderationOutcomes.map((outcome) => ({ outcome })),
    on: on('content_checked', ({ outcome }) => [{ outcome }, 1]),
  },
  {
    type: 'histogram',
    name: 'videogen_moderation_check_duration_seconds',
    help: 'Duration of checks of content before a charge, with or without a usable answer',
    process: 'API',
    actWhen: 'nears `MODERATION_TIMEOUT_SECONDS`',
    buckets: requestBuckets,
    on: on('content_checked', ({ durationMs }) => [{}, durationMs / 1000]),
  },
  {
    type: 'counter',
    name: 'videogen_callback_attempts_total',
    help: "Attempts at callbacks by the receiver's response; unreachable: none",
    labels: ['outcome'],
    process: 'worker',
    actWhen:
      '`unreachable` is above 50 % of at least 10 attempts in 15 minutes: check your network ' +
      '([runbook](runbooks.md#videogencallbacksunreachable))',
    zeros: callbackOutcomes.map((outcome) => ({ outcome })),
    on: on('callback_attempted', ({ status }) => [{ outcome: callbackOutcomeOf(status) }, 1]),
  },
  {
    type: 'histogram',
    name: 'videogen_callback_attempt_duration_seconds',
    help: 'Duration of attempts at callbacks, with or without a response',
    process: 'worker',
    buckets: callbackBuckets,
    on: on('callback_attempted', ({ durationMs }) => [{}, durationMs / 1000]),
  },
  {
    type: 'counter',
    name: 'videogen_payments_total',
    help: 'Payments for credits; granted_late: found by reconciliation, because no event had arrived; not_granted: paid, but not granted; not_comparable: a refund or dispute in another currency, not booked',
    labels: ['outcome'],
    process: 'both',
    actWhen:
      '`granted_late` grows: events of the payment provider do not arrive ([runbook](runbooks.md#videogenpaymenteventsmissing)). ' +
      '`not_granted` grows: a customer paid and got no credits ([runbook](runbooks.md#videogenpaymentnotgranted)). ' +
      '`not_comparable` grows: book the credits by hand ([runbook](runbooks.md#videogenreversalnotbooked))',
    zeros: paymentOutcomes.map((outcome) => ({ outcome })),
    on: on('payment_settled', ({ outcome }) => [{ outcome }, 1]),
  },
];

function callbackOutcomeOf(status: number | undefined): (typeof callbackOutcomes)[number] {
  if (status === undefined) return 'unreachable';
  if (status === 410) return 'rejected';
  return status >= 200 && status < 300 ? 'delivered' : 'refused';
}
