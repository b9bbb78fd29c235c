import { LRUCache } from 'lru-cache';
import type { Rate, RateLeft } from '../domain/rate.ts';

/**
 * What refused clients were told, so that those of one account do not all come back in the same second, of whom all but one
 * would be refused again. Nothing is held free for them: nobody can tell one who comes back from one who is new.
 */
export type PromisedPlaces = {
  /** Seconds, for `Retry-After`: one window at most beyond what is needed. Exact for an account with one client. */
  next(accountId: string, rate: Rate, left: RateLeft): number;
};

/** Accounts that are remembered, and promises of each; beyond these, clients are told what the last one was told. */
const maxAccounts = 10_000;
const maxPromises = 1_000;

export function createPromisedPlaces(now: () => number = () => performance.now()): PromisedPlaces {
  const promises = new LRUCache<string, readonly number[]>({ max: maxAccounts });
  return {
    next: (accountId, rate, { nextInMs }) => {
      const nowMs = now();
      const open = (promises.get(accountId) ?? []).filter((atMs) => atMs > nowMs);
      // A client that does not wait would otherwise be promised the whole future.
      if (open.length >= Math.min(maxPromises, rate.quota)) return secondsOf(Math.max(...open) - nowMs);
      // Being fewer than a burst, those who come late, for they wait whole seconds, still find what has gathered meanwhile.
      const seconds = secondsOf(nextInMs + open.length * (rate.windowMs / rate.quota));
      promises.set(accountId, [...open, nowMs + seconds * 1000]);
      return seconds;
    },
  };
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
