import { Webhook as Signer } from 'standardwebhooks';
import { callbackTimeoutMs, webhookId } from '../callbacks/callback.ts';
import { type Exchange, exchangeOf } from '../callbacks/exchange.ts';
import { recordedError } from '../callbacks/receiver-error.ts';
import type { GuardedClient } from './client.ts';
import { targetOf } from './guard.ts';
import { createSlots } from './limits.ts';
import { OutboundError } from './outbound-error.ts';

export type CallbackPost = {
  /** The id of the task for its callback; each event has an id of its own. */
  readonly deliveryId: string;
  readonly accountId: string;
  readonly url: string;
  readonly dialect: string;
  /** Built once there is a slot, so that a waiting callback costs nothing. */
  readonly body: () => Promise<string>;
  /** The account's signing secrets, the current one first; never empty. Decrypted once there is a slot. */
  readonly secrets: () => Promise<readonly string[]>;
  /** Reads the time of the signature, in Unix milliseconds: that of the database, because receivers refuse one that is minutes off. */
  readonly readTime?: () => Promise<number>;
  readonly signal: AbortSignal;
};

/** The status of the receiver, or the record of a network error. */
export type CallbackAnswer = {
  /** The start of the attempt, in Unix milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly status: number | undefined;
  readonly error: string | undefined;
  /** From `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly responseHead: Buffer | undefined;
  readonly exchange: Exchange;
};

export type CallbackPosterDeps = {
  readonly client: Pick<GuardedClient, 'post'>;
  /** Attempts of one account at the same time, in this process. */
  readonly maxPerAccount?: number;
  /** Attempts of one account at one host; fewer, so that its dead receiver leaves room for its healthy one. */
  readonly maxPerReceiver?: number;
  /** Further headers of the callback's dialect. */
  readonly dialectHeaders?: (
    callback: Pick<CallbackPost, 'dialect'> &
      Pick<Webhook, 'timestampSeconds' | 'secrets' | 'body'> & { readonly taskId: string },
  ) => Readonly<Record<string, string>>;
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
  return async (callback: CallbackPost): Promise<CallbackAnswer> => {
    const { accountId, url, signal } = callback;
    const receiver = `${accountId} ${targetOf(new URL(url)).hostname}`;
    return await accounts.hold(accountId, signal, () => receivers.hold(receiver, signal, () => post(deps, callback)));
  };
}

async function post(
  { client, dialectHeaders, onUnreachable, now = Date.now }: CallbackPosterDeps,
  { deliveryId, url, dialect, body: makeBody, secrets: openSecrets, readTime, signal }: CallbackPost,
): Promise<CallbackAnswer> {
  const [secrets, body] = await Promise.all([openSecrets(), makeBody()]);
  const signedAt = (await readTime?.()) ?? now();
  const timestampSeconds = Math.floor(signedAt / 1000);
  const signature = signWebhook({ id: webhookId(deliveryId), timestampSeconds, body, secrets });
  const extra = dialectHeaders?.({ taskId: deliveryId, dialect, timestampSeconds, secrets, body });
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

/** The one date format that RFC 9110 lets a sender write; JavaScript would take "-5" for a date as well. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** RFC 9110: seconds, or an HTTP date. Anything else counts as absent. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const atMs = httpDate.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

export type Webhook = {
  /** The same for every attempt, so that a receiver can drop repeats; visible ASCII without a dot. */
  readonly id: string;
  /** The time of this attempt, in Unix seconds; receivers reject what is more than five minutes off. */
  readonly timestampSeconds: number;
  /** Exactly the text that is sent. */
  readonly body: string;
  /** Current secret first; during a rotation the former one too. */
  readonly secrets: readonly string[];
};

/** The dot separates the signed parts, so an id with one could be read in two ways. */
const idPattern = /^[\x21-\x2d\x2f-\x7e]{1,255}$/;

/** The headers of Standard Webhooks: one `v1,` signature for each secret. Throws only for bugs of ours. */
export function signWebhook({ id, timestampSeconds, body, secrets }: Webhook) {
  if (!idPattern.test(id)) throw new Error('a webhook id must be visible ASCII without a dot');
  if (!Number.isSafeInteger(timestampSeconds)) throw new Error('a webhook timestamp must be whole seconds');
  if (secrets.length === 0) throw new Error('a webhook needs a secret');
  const signedAt = new Date(timestampSeconds * 1000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': secrets.map((secret) => new Signer(secret).sign(id, signedAt, body)).join(' '),
  };
}
