import type { Dialect } from '../domain/dialect.ts';
import { webhookId } from '../domain/webhook-id.ts';
import type { CallbackSlots } from './callback-slots.ts';
import type { GuardedClient } from './guarded-client.ts';
import { OutboundError } from './outbound-error.ts';
import { signWebhook } from './sign-webhook.ts';

export type CallbackPost = {
  readonly taskId: string;
  readonly accountId: string;
  readonly url: string;
  readonly dialect: Dialect;
  /** Made only once there is a slot for it: what has to wait costs nothing. */
  readonly body: () => Promise<string>;
  /** The account's secrets that sign today, current one first; never empty. Opened only once there is a slot. */
  readonly secrets: () => Promise<readonly string[]>;
  readonly signal: AbortSignal;
};

/** What came back: a status, or the kind of network error. */
export type CallbackAnswer = {
  /** When the attempt began, in Unix milliseconds, and how long it took. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly status: number | undefined;
  readonly error: string | undefined;
  /** From `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly responseHead: Buffer | undefined;
};

export type CallbackPosterDeps = {
  readonly client: Pick<GuardedClient, 'post'>;
  readonly slots: CallbackSlots;
  /** Headers that the callback's dialect wants beside ours; none without it. `secrets` as above. */
  readonly dialectHeaders?: (callback: {
    readonly taskId: string;
    readonly dialect: Dialect;
    readonly timestampSeconds: number;
    readonly secrets: readonly string[];
  }) => Readonly<Record<string, string>>;
  readonly now?: () => number;
};

/** Both from the design, section 6. */
export const callbackTimeoutMs = 15_000;
const maxResponseBytes = 1024;

/**
 * Posts one signed attempt at a callback. A network fault is an answer like any other; `busy` and `aborted`, which are
 * our own doing and say nothing about the receiver, are thrown so that the attempt is repeated.
 */
export function createCallbackPoster(deps: CallbackPosterDeps) {
  return async (callback: CallbackPost): Promise<CallbackAnswer> => {
    const giveBack = deps.slots.take(callback.accountId, callback.url);
    try {
      return await post(deps, callback);
    } finally {
      giveBack();
    }
  };
}

async function post(
  { client, dialectHeaders, now = Date.now }: CallbackPosterDeps,
  { taskId, accountId, url, dialect, body: makeBody, secrets: openSecrets, signal }: CallbackPost,
): Promise<CallbackAnswer> {
  const [secrets, body] = await Promise.all([openSecrets(), makeBody()]);
  const timestampSeconds = Math.floor(now() / 1000);
  const signature = signWebhook({ id: webhookId(taskId), timestampSeconds, body, secrets });
  const extra = dialectHeaders?.({ taskId, dialect, timestampSeconds, secrets });
  const headers = { ...extra, 'content-type': 'application/json', ...signature };
  const startedAt = now();
  const since = () => ({ startedAt, durationMs: now() - startedAt });
  try {
    const limits = { timeoutMs: callbackTimeoutMs, maxResponseBytes, signal };
    // No account's answers come over another's connection, whatever their common host makes of requests.
    const answer = await client.post(url, { headers, body, ...limits, keptFor: accountId });
    const retryAfterMs = parseRetryAfter(answer.headers['retry-after'], now());
    return { ...since(), status: answer.status, error: undefined, retryAfterMs, responseHead: answer.body };
  } catch (error) {
    if (!(error instanceof OutboundError) || error.kind === 'busy' || error.kind === 'aborted') throw error;
    return { ...since(), status: undefined, error: error.kind, retryAfterMs: undefined, responseHead: undefined };
  }
}

/** The one date format that RFC 9110 lets a sender write; JavaScript would take "-5" for a date as well. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** RFC 9110: seconds, or an HTTP date. Anything else counts as absent. */
function parseRetryAfter(header: string | string[] | undefined, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const atMs = httpDate.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
