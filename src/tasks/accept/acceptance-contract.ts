import type { SpendCap } from '../../accounts/limits/spend-caps.ts';
import type { AmountsWithPriceName } from '../../catalogue/prices/model-prices.ts';
import type { Rate, RateLeft } from '../../platform/timing/parse-rate-and-rate-left.ts';
import type { ShortfallTerms } from '../end/shortfall-terms-and-decision.ts';
import type { TaskParam, TaskState } from '../../catalogue/tasks/task.ts';

export type CreatorKeyOrPerson =
  | { readonly kind: 'key'; readonly keyId: string }
  | { readonly kind: 'person'; readonly userId: string };

export type NewTask = {
  /** A UUID of version 7, so that tasks are stored in the order of arrival. */
  readonly taskId: string;
  readonly accountId: string;
  /** A key must be active; the caller has checked a person's session. */
  readonly by?: CreatorKeyOrPerson | undefined;
  readonly param: TaskParam;
  /** The fingerprint of the request, for the comparison with an earlier one under the same Idempotency-Key. */
  readonly requestSha256: Buffer;
  /** The catalogue's prices that may apply to its input, in the order in which they are decided; operators may have set their amounts. */
  readonly listedPrices: readonly AmountsWithPriceName[];
  /** The policy for a video that falls short of the order; undefined for a full refund. */
  readonly shortfall?: ShortfallTerms | undefined;
  readonly deadlineMs: number;
  readonly idempotencyKey?: string | undefined;
  /** The limit for accounts that have none of their own; undefined for no limit. */
  readonly createRate?: Rate | undefined;
  /**
   * Set for clients that repeat a create without an Idempotency-Key when they may have lost its response. A number: how often the client
   * has repeated this create (`answer-repeated-creates.ts` has the rule). `merged`: every identical create is an attempt at one task. `running`:
   * so is every one while the task is unfinished.
   */
  readonly attempt?: number | 'merged' | 'running' | undefined;
  /** The maximum age of the task of another attempt, a minute by default; of `running`, the time since its success. */
  readonly repeatWindowMs?: number | undefined;
  /** The API in whose form its callback is sent: a dialect, native by default, or a shape of `src/api/dialects`. */
  readonly dialect?: string | undefined;
};

/** The result of a create: accepted, accepted before, or the reason for its refusal. */
export type CreateOutcome =
  | Accepted
  | Replayed
  | { readonly kind: 'key_reused' }
  /** The task with this idempotency key was deleted, so its request cannot be compared. */
  | { readonly kind: 'content_deleted' }
  | { readonly kind: 'insufficient_credits'; readonly required: number; readonly balance: number }
  | { readonly kind: 'spend_cap_reached'; readonly required: number; readonly cap: SpendCap }
  | { readonly kind: 'too_many_unfinished_tasks'; readonly limit: number }
  | { readonly kind: 'too_fast'; readonly rate: CreateRate }
  | { readonly kind: 'key_inactive' }
  | { readonly kind: 'account_suspended' }
  | { readonly kind: 'account_not_found' };

/**
 * The commit stayed uncertain. `unknown`: a repeat with the Idempotency-Key finds out. `reverted`: a client without a key is charged
 * nothing, because the task is refunded if it exists.
 */
export type UncertainOutcome = {
  readonly kind: 'acceptance_unknown' | 'acceptance_reverted';
  readonly cause: unknown;
};

/** The request was accepted before. `state` is the task's current state. */
export type Replayed = Pick<Accepted, 'taskId' | 'creditsCharged'> & {
  readonly kind: 'replayed';
  readonly state: TaskState;
};

export type Accepted = {
  readonly kind: 'accepted';
  readonly taskId: string;
  readonly creditsCharged: number;
  /** Undefined when the account has no limit. */
  readonly rate?: CreateRate;
};

/** The account's limit of creates, and the remainder. */
export type CreateRate = { readonly limit: Rate; readonly left: RateLeft };
