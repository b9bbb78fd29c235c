import type { GuardedClient } from '../../platform/outbound/guarded-client.ts';
import { hostAndPortOf } from '../../platform/outbound/guard/guard.ts';
import { createSlotsPerKey } from '../../platform/outbound/deadlines-and-slots.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { parseRetryAfter } from '../../platform/outbound/retry-after.ts';
import { signWebhook } from '../../platform/outbound/webhook-signature.ts';
import type { ModelsByName } from '../../catalogue/models/model-type-and-name-lookup.ts';
import type { TaskRecord } from '../public-record.ts';
import { callbackTimeoutMs } from './callback-schedule.ts';
import { webhookId } from './deliveries.ts';
import type { Delivery, DeliveryAttempt } from './deliveries.ts';
import { type RecordedExchange, exchangeOf } from './recorded-exchange.ts';
import { recordedError } from './receiver-error.ts';

/** How a callback of a dialect is written. */
export type CallbackFormatter = {
  readonly callbackBody: (record: TaskRecord, models: ModelsByName) => string;
  /** Headers added to the native ones. */
  readonly callbackHeaders: (callback: CallbackToSign) => Readonly<Record<string, string>>;
};

/** A callback that is signed now. */
export type CallbackToSign = {
  readonly taskId: string;
  readonly timestampSeconds: number;
  /** The current secret first; never empty. */
  readonly secrets: readonly string[];
  readonly body: string;
};

/** The account's signing secrets are decrypted, and the body is built, for each attempt. */
export type UnsignedCallback = Pick<CallbackToSign, 'body' | 'secrets'> & {
  readonly format: Pick<CallbackFormatter, 'callbackHeaders'>;
  /** The time of the signature, in Unix milliseconds: that of the database, because receivers refuse one that is minutes off. */
  readonly signedAt: number;
};

export type CallbackToSignAndPost = UnsignedCallback &
  Pick<Delivery, 'deliveryId' | 'url'> & { readonly signal: AbortSignal };

/** The status of the receiver, or the record of a network error. */
export type CallbackAttemptResult = Omit<DeliveryAttempt, 'attempt'> & {
  /** From `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly exchange: RecordedExchange;
};

export type CallbackSenderDeps = {
  readonly client: Pick<GuardedClient, 'post'>;
  /** Attempts of one account at the same time, in this process. */
  readonly maxPerAccount?: number;
  /** Attempts of one account at one host; fewer, so that its dead receiver leaves room for its healthy one. */
  readonly maxPerReceiver?: number;
  /** Receives every attempt without a status, with details that clients must not see. */
  readonly onUnreachable?: (attempt: { readonly deliveryId: string; readonly error: OutboundError }) => void;
  readonly now?: () => number;
};

const maxResponseBytes = 1024;

export function createCallbackSender(deps: CallbackSenderDeps) {
  const accounts = createSlotsPerKey({ maxHeld: deps.maxPerAccount ?? 16 });
  const receivers = createSlotsPerKey({ maxHeld: deps.maxPerReceiver ?? 8 });
  return {
    /**
     * Makes an attempt in a slot of its account and receiver. Callers prepare the callback in `attempt`, so that one without a slot costs
     * nothing. A hundred hanging receivers of one account use up the account's own slots, never those of another.
     */
    inSlot: async (
      { accountId, url }: Pick<Delivery, 'accountId' | 'url'>,
      signal: AbortSignal,
      attempt: () => Promise<CallbackAttemptResult>,
    ) => {
      const receiver = `${accountId} ${hostAndPortOf(new URL(url)).hostname}`;
      return await accounts.hold(accountId, signal, () => receivers.hold(receiver, signal, attempt));
    },
    /**
     * Signs and posts one attempt at a callback. A network error is a result like any other; `busy` and `aborted`, which have nothing to
     * do with the receiver, are thrown so that the attempt is repeated.
     */
    post: (callback: CallbackToSignAndPost) => post(deps, callback),
  };
}

export type CallbackSender = ReturnType<typeof createCallbackSender>;

async function post(
  { client, onUnreachable, now = Date.now }: CallbackSenderDeps,
  { deliveryId, url, format, body, secrets, signedAt, signal }: CallbackToSignAndPost,
): Promise<CallbackAttemptResult> {
  const timestampSeconds = Math.floor(signedAt / 1000);
  const signature = signWebhook({ id: webhookId(deliveryId), timestampSeconds, body, secrets });
  const extra = format.callbackHeaders({ taskId: deliveryId, timestampSeconds, secrets, body });
  const headers = { ...extra, 'content-type': 'application/json', ...signature };
  const sent = { headers, body };
  const startedAt = now();
  const since = () => ({ startedAt, durationMs: now() - startedAt });
  try {
    const limits = { timeoutMs: callbackTimeoutMs, maxResponseBytes, signal };
    const answer = await client.post(url, { headers, body, ...limits });
    const retryAfterMs = parseRetryAfter(answer.headers['retry-after'], signedAt + now() - startedAt);
    const { status, body: responseHead } = answer;
    return { ...since(), status, error: undefined, retryAfterMs, responseHead, exchange: exchangeOf(sent, answer) };
  } catch (error) {
    if (!(error instanceof OutboundError) || error.kind === 'busy' || error.kind === 'aborted') throw error;
    onUnreachable?.({ deliveryId, error });
    const none = { status: undefined, retryAfterMs: undefined, responseHead: undefined };
    return { ...since(), ...none, error: recordedError(error), exchange: exchangeOf(sent) };
  }
}
