import type { GuardedClient } from '../../platform/outbound/guarded-client.ts';
import { targetOf } from '../../platform/outbound/guard/guard.ts';
import { createSlots } from '../../platform/outbound/deadlines-and-slots.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { parseRetryAfter } from '../../platform/outbound/retry-after.ts';
import { signWebhook } from '../../platform/outbound/webhook-signature.ts';
import type { CallbackFormat, SignedCallback } from './callback-format-type.ts';
import { callbackTimeoutMs, webhookId } from './callback-schedule.ts';
import type { Delivery, DeliveryAttempt } from './deliveries.ts';
import { type RecordedExchange, exchangeOf } from './recorded-exchange.ts';
import { recordedError } from './receiver-error.ts';

export type CallbackToPost = Pick<Delivery, 'deliveryId' | 'accountId' | 'url'> & {
  readonly format: Pick<CallbackFormat, 'callbackHeaders'>;
  /** Called once there is a slot, so that a waiting callback costs nothing. */
  readonly prepare: () => Promise<PreparedCallback>;
  readonly signal: AbortSignal;
};

/** The account's signing secrets are decrypted, and the body is built, for each attempt. */
export type PreparedCallback = Pick<SignedCallback, 'body' | 'secrets'> & {
  /** The time of the signature, in Unix milliseconds: that of the database, because receivers refuse one that is minutes off. */
  readonly signedAt: number;
};

/** The status of the receiver, or the record of a network error. */
export type CallbackAnswer = Omit<DeliveryAttempt, 'attempt'> & {
  /** From `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly exchange: RecordedExchange;
};

export type CallbackPosterDeps = {
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

/**
 * Posts one signed attempt at a callback. A network error is a result like any other; `busy` and `aborted`, which have
 * nothing to do with the receiver, are thrown so that the attempt is repeated. A hundred hanging receivers of one
 * account use up the account's own slots, never those of another.
 */
export function createCallbackPoster(deps: CallbackPosterDeps) {
  const accounts = createSlots({ maxHeld: deps.maxPerAccount ?? 16 });
  const receivers = createSlots({ maxHeld: deps.maxPerReceiver ?? 8 });
  return async (callback: CallbackToPost): Promise<CallbackAnswer> => {
    const { accountId, url, signal } = callback;
    const receiver = `${accountId} ${targetOf(new URL(url)).hostname}`;
    return await accounts.hold(accountId, signal, () => receivers.hold(receiver, signal, () => post(deps, callback)));
  };
}

async function post(
  { client, onUnreachable, now = Date.now }: CallbackPosterDeps,
  { deliveryId, url, format, prepare, signal }: CallbackToPost,
): Promise<CallbackAnswer> {
  const { body, secrets, signedAt } = await prepare();
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
