import type { ApiProblem } from './problem.ts';

// Idempotency-Keys of requests that charge or book credits. A second click, a retry, a reload, the back button and a dialog that is
// closed and opened again send the request with the same key until the service has answered it, so it is done once.

type Pending = {
  readonly key: string;
  /** The request that has the key. */
  readonly of: string;
  /** The page load that sent it: after a reload nobody waits for its response. */
  readonly page: number;
  readonly sentAt: number;
  /** Since when an answer is missing, so that the service may have done it. */
  readonly lostAt?: number;
};

/** Afterwards the same request is taken for a new one: the person has had time to look whether the first was done. */
const lostForMs = 15 * 60_000;

/** `slot` names what is done, such as a grant to one account; `of` is the request, where another one is to have another key. */
export type Once = { readonly slot: string; readonly of?: string };

/** The key of a request, which stays the same until `settle`. */
export function keyOf({ slot, of = '' }: Once): string {
  const pending = pendingOf(slot);
  const key = pending?.of === of ? pending.key : randomKey();
  const lostAt = pending?.of === of ? pending.lostAt : undefined;
  store(slot, { key, of, page: performance.timeOrigin, sentAt: Date.now(), ...(lostAt !== undefined && { lostAt }) });
  return key;
}

/** Forgets the key of a request that was answered. A refusal answers it, too, unless an earlier try of it was lost. */
export function settle({ slot }: Once, problem?: ApiProblem): void {
  const pending = pendingOf(slot);
  if (pending === undefined) return;
  const hasNoAnswer = problem !== undefined && (problem.status === 0 || problem.status >= 500);
  if (hasNoAnswer) store(slot, { ...pending, lostAt: pending.lostAt ?? Date.now() });
  // That the key belongs to another request is how the service says that it has done that one.
  else if (problem === undefined || pending.lostAt === undefined || problem.error === 'idempotency_key_reused')
    sessionStorage.removeItem(nameOf(slot));
}

/** Whether an answer to what is done here is missing. */
export function isLost({ slot }: Once): boolean {
  return pendingOf(slot)?.lostAt !== undefined;
}

const nameOf = (slot: string) => `videogen-once-${slot}`;

function store(slot: string, pending: Pending): void {
  sessionStorage.setItem(nameOf(slot), JSON.stringify(pending));
}

function pendingOf(slot: string): Pending | undefined {
  // What `store` wrote.
  const pending = JSON.parse(sessionStorage.getItem(nameOf(slot)) ?? 'null') as Pending | null;
  if (pending === null) return undefined;
  const isAbandoned = pending.lostAt === undefined && pending.page !== performance.timeOrigin;
  const one = isAbandoned ? { ...pending, lostAt: pending.sentAt } : pending;
  return one.lostAt !== undefined && Date.now() - one.lostAt > lostForMs ? undefined : one;
}

/** `crypto.randomUUID` exists for https and loopback only. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
