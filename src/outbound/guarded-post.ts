import type { OutboundRequest, OutboundResponse } from './exchange.ts';
import { checkedUrl, guardedSend } from './guarded-send.ts';
import { inSlot, signalsOf, statusOf, type OutboundRoom, type OutboundStatus } from './outbound-room.ts';
import { readStart } from './read-body.ts';
import { withDeadline } from './with-deadline.ts';

export type PostOptions = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** For look-up, connection and exchange; waiting for a slot of the host comes before it and has its own bound. */
  readonly timeoutMs: number;
  /** So much of the answer is kept; the connection is dropped behind it. */
  readonly maxResponseBytes: number;
  readonly signal?: AbortSignal;
  /**
   * Keeps the connection open for a moment, for the next post with the same word to the same origin; whoever has another word
   * never shares it. A kept connection that is hung up on before it answers has the post sent once more, over a new one.
   */
  readonly keptFor?: string;
};

export type PostAnswer = OutboundStatus & { readonly body: Buffer };

/** Behind a status, a receiver gets this long for the few bytes of its answer that we keep. */
const answerGraceMs = 2000;

export async function guardedPost(room: OutboundRoom, url: string, options: PostOptions): Promise<PostAnswer> {
  const request: OutboundRequest = {
    method: 'POST',
    url: checkedUrl(url, room.guard.allow),
    headers: { 'user-agent': 'Videogen', ...options.headers },
    body: options.body,
  };
  const answer = async (response: OutboundResponse): Promise<PostAnswer> => {
    const body = await readStart(response, options.maxResponseBytes, answerGraceMs);
    return { ...statusOf(response), body };
  };
  const kept = options.keptFor === undefined ? undefined : { connections: room.connections, whom: options.keptFor };
  // The outer bound can only be met by a fault of ours: the wait and the exchange end before it.
  const boundMs = room.maxWaitMs + options.timeoutMs + answerGraceMs;
  return await withDeadline(boundMs, signalsOf(room, options.signal), (outer) =>
    inSlot(room, request.url, outer, () =>
      withDeadline(options.timeoutMs, [outer], (signal) => guardedSend(room.guard, request, signal, answer, kept)),
    ),
  );
}
