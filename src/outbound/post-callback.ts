import type { GuardedClient } from './guarded-client.ts';
import { OutboundError } from './outbound-error.ts';
import { signWebhook } from './sign-webhook.ts';

export type CallbackPost = {
  readonly taskId: string;
  readonly accountId: string;
  readonly url: string;
  readonly body: string;
  readonly signal: AbortSignal;
};

/** What came back: a status, or the kind of network error. */
export type CallbackAnswer = {
  readonly status: number | undefined;
  readonly error: string | undefined;
  /** From `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly responseHead: Buffer | undefined;
};

export type CallbackPosterDeps = {
  readonly client: Pick<GuardedClient, 'post'>;
  /** The account's secrets that sign today, current one first; never empty. */
  readonly secretsOf: (accountId: string) => Promise<readonly string[]>;
  readonly now?: () => number;
};

/** Both from the design, section 6. */
const timeoutMs = 15_000;
const maxResponseBytes = 1024;

/**
 * Posts one signed attempt at a callback. A network fault is an answer like any other; `busy` and `aborted`, which are
 * our own doing and say nothing about the receiver, are thrown so that the attempt is repeated.
 */
export function createCallbackPoster({ client, secretsOf, now = Date.now }: CallbackPosterDeps) {
  return async ({ taskId, accountId, url, body, signal }: CallbackPost): Promise<CallbackAnswer> => {
    const secrets = await secretsOf(accountId);
    const signature = signWebhook({ id: webhookId(taskId), timestampSeconds: Math.floor(now() / 1000), body, secrets });
    const headers = { 'content-type': 'application/json', ...signature };
    try {
      const answer = await client.post(url, { headers, body, timeoutMs, maxResponseBytes, signal });
      const retryAfterMs = parseRetryAfter(answer.headers['retry-after'], now());
      return { status: answer.status, error: undefined, retryAfterMs, responseHead: answer.body };
    } catch (error) {
      if (!(error instanceof OutboundError) || error.kind === 'busy' || error.kind === 'aborted') throw error;
      return { status: undefined, error: error.kind, retryAfterMs: undefined, responseHead: undefined };
    }
  };
}

/** The same over all attempts and redeliveries, so that a receiver can drop repeats. */
export function webhookId(taskId: string): string {
  return `msg_${taskId.replaceAll('-', '')}`;
}

/** RFC 9110: seconds, or an HTTP date. Anything else counts as absent. */
function parseRetryAfter(header: string | string[] | undefined, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
