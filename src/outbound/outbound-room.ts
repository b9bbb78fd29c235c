import type { OutboundRequest, OutboundResponse } from './exchange.ts';
import { guardedSend, type Guard } from './guarded-send.ts';
import type { HostSlots } from './host-slots.ts';
import type { KeptConnections } from './kept-connections.ts';
import { targetOf } from './target-of.ts';

/** What all exchanges of one client share. */
export type OutboundRoom = {
  readonly guard: Guard;
  readonly slots: HostSlots;
  readonly connections: KeptConnections;
  readonly maxWaitMs: number;
  /** Aborted when the client closes. */
  readonly closing: AbortSignal;
};

export type Read<T> = (response: OutboundResponse) => Promise<T>;

/** Status and headers (at most 16 KiB of them, names in lower case) of an answer. */
export type OutboundStatus = { readonly status: number; readonly headers: OutboundResponse['headers'] };

export function statusOf(response: OutboundResponse): OutboundStatus {
  return { status: response.statusCode ?? 0, headers: response.headers };
}

/** The signals that end an exchange of this client: its own closing, and the caller's. */
export function signalsOf(room: OutboundRoom, signal: AbortSignal | undefined): readonly AbortSignal[] {
  return signal === undefined ? [room.closing] : [room.closing, signal];
}

/** Runs one exchange in a slot of its host; the look-up too, for it asks a server of the same stranger. */
export async function inSlot<T>(room: OutboundRoom, url: URL, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const giveBack = await room.slots.take(targetOf(url).hostname, signal);
  try {
    return await work();
  } finally {
    giveBack();
  }
}

export async function sendInSlot<T>(
  room: OutboundRoom,
  request: OutboundRequest,
  signal: AbortSignal,
  read: Read<T>,
): Promise<T> {
  return await inSlot(room, request.url, signal, () => guardedSend(room.guard, request, signal, read));
}
