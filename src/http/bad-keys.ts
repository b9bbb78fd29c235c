import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { IncomingMessage } from 'node:http';
import type { RateLeft } from '../domain/rate-limit.ts';
import { hashApiKey } from '../stores/key-format.ts';
import { refusalHeaders } from './rate-headers.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { HttpError } from './errors.ts';

/** Slows down whoever tries keys, without looking them up; keys that were good lately are not held up by a bad neighbour. */
export type BadKeys = {
  /** Throws `too_many_bad_keys` when this address has tried too many bad keys and this one was not good lately. */
  refuse(req: IncomingMessage, key: string): void;
  /** Counts the outcome of a look-up. */
  note(req: IncomingMessage, key: string, isGood: boolean): void;
};

const maxGoodKeys = 10_000;
const goodForMs = 10 * 60_000;

export function createBadKeys(limiter: RateLimiter | undefined): BadKeys {
  const good = new LRUCache<string, true>({ max: maxGoodKeys, ttl: goodForMs });
  return {
    refuse: (req, key) => {
      if (limiter === undefined || good.has(hashed(key))) return;
      const left = limiter.look(addressOf(req));
      if (left.remaining === 0) throw refusal(limiter, left);
    },
    note: (req, key, isGood) => {
      if (isGood) good.set(hashed(key), true);
      else {
        good.delete(hashed(key));
        limiter?.take(addressOf(req));
      }
    },
  };
}

/** Keys are never kept in plain form, not even in memory: a core dump or a heap snapshot would give them away. */
function hashed(key: string): string {
  return hashApiKey(key).toString('base64');
}

function refusal({ rate }: RateLimiter, left: RateLeft): HttpError {
  return new HttpError('too_many_bad_keys', { headers: refusalHeaders('bad-keys', rate, left, () => 0) });
}

/**
 * The client's address; of IPv6 the network, of which one client has all. A peer in a private network is taken for a
 * proxy and its last `X-Forwarded-For` is believed: whoever forges that there gains no more than further tries.
 */
function addressOf({ socket, headers }: IncomingMessage): string {
  const peer = parsed(socket.remoteAddress);
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').at(-1)?.trim();
  const isProxy = peer !== undefined && peer.range() !== 'unicast';
  const address = (isProxy ? parsed(forwarded) : undefined) ?? peer;
  if (address === undefined) return 'unknown';
  const groups = address.toNormalizedString().split(':');
  return address.kind() === 'ipv6' ? groups.slice(0, 4).join(':') : address.toString();
}

function parsed(address: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return address !== undefined && ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}
