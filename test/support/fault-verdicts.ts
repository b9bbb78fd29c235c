import assert from 'node:assert/strict';
import { type Fault, type FaultName, faults } from '../fakes/fault-proxy.ts';
import type { Kind } from '../fakes/provider-kinds.ts';
import type { BookedJob } from '../fakes/upstream-books.ts';

// The outcomes that a create may have after a network fault, for each kind of provider.

/** After these it is certain whether there is a job. */
const certain: readonly FaultName[] = [
  'passes a proxy',
  'finds no listener',
  'is sent twice by a proxy',
  'gets its answer twice',
  'gets a strange state',
  'gets 429',
  'gets 401',
  'gets a redirect',
];

// The names are the table's.
export const namedFaults = Object.entries(faults) as readonly (readonly [FaultName, Fault])[];

/** True when it may stay unknown whether there is a job. */
export function mayStayUnknown({ lostJobs, forgets }: Kind, faultName: FaultName): boolean {
  if (certain.includes(faultName) || lostJobs === 'named') return false;
  const fault: Fault = faults[faultName];
  const isThere = fault.forwarded === 1 && !(fault.restarts === true && forgets === true);
  return lostJobs === 'lost' || !isThere;
}

/** By the upstream's own books. What the network sends twice is twice where jobs have no names, and what dies is made again. */
export function assertPaidOnce({ lostJobs, repeats, forgets }: Kind, made: readonly BookedJob[], fault?: Fault): void {
  const isRepeated = fault?.forwarded === 2 || fault?.forwarded === 'late' || (fault?.restarts === true && forgets);
  const isNetworks = fault?.forwarded === 2 && lostJobs !== 'named';
  if (lostJobs !== 'named') return assert.ok(made.length <= (isNetworks ? 2 : 1), JSON.stringify(made));
  if (isRepeated === true && repeats === true) return assert.ok(made.length <= 2, JSON.stringify(made));
  assert.equal(new Set(made.map(({ id }) => id)).size, made.length, JSON.stringify(made));
}

/** Matches only the first of the requests that `matches` matches. */
export function firstOf(matches: Kind['isCreate']): Kind['isCreate'] {
  let isPast = false;
  return (request) => {
    if (isPast || !matches(request)) return false;
    isPast = true;
    return true;
  };
}
