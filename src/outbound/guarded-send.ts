import type { AllowList } from './allow-list.ts';
import { checkedAddresses } from './checked-addresses.ts';
import { exchange, type OutboundRequest, type OutboundResponse } from './exchange.ts';
import type { HostLookup } from './host-lookup.ts';
import type { KeptConnections } from './kept-connections.ts';
import { OutboundError } from './outbound-error.ts';
import { literalRefusal } from './literal-refusal.ts';
import { targetOf } from './target-of.ts';

export type Guard = {
  readonly allow: AllowList;
  readonly lookup: HostLookup;
  readonly lookupTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly ca: string | undefined;
};

/** Connections are kept, and shared only between exchanges for the same `whom` with the same origin. */
export type KeptFor = { readonly connections: KeptConnections; readonly whom: string };

/** A URL that passed the literal check. Throws `OutboundError` (`blocked`) for one that does not. */
export function checkedUrl(url: string, allow: AllowList): URL {
  const refusal = literalRefusal(url, allow);
  if (refusal !== undefined) throw new OutboundError('blocked', `the URL ${refusal}`);
  return new URL(url);
}

/**
 * Resolve, check, connect, one exchange: in this order, and nothing twice. A connection that was kept is used in place of a new
 * one when it leads to an address that was resolved and checked just now. The host goes on the wire without the
 * dot of a full name, because certificates do not know it.
 */
export async function guardedSend<T>(
  guard: Guard,
  request: OutboundRequest,
  signal: AbortSignal,
  read: (response: OutboundResponse) => Promise<T>,
  kept?: KeptFor,
): Promise<T> {
  const target = targetOf(request.url);
  const addresses = await checkedAddresses(target, guard.allow, guard.lookup, guard.lookupTimeoutMs, signal);
  const { connectTimeoutMs, ca } = guard;
  const url = new URL(request.url);
  if (url.hostname.endsWith('.')) url.hostname = target.hostname;
  const secure = url.protocol === 'https:';
  const keeping = kept && { connections: kept.connections, purpose: `${url.origin} ${kept.whom}` };
  return await exchange(
    { ...request, url },
    { target, addresses, secure, connectTimeoutMs, ca, signal },
    read,
    keeping,
  );
}
