import type { Dialect } from '../domain/api-key.ts';
import type { Price as ListedPrice } from '../domain/models.ts';
import type { Rate, RateLeft } from '../domain/rate-limit.ts';
import type { TaskParam, TaskState } from '../domain/task.ts';

/** Who makes a task: a key, or a person at the console. */
export type TaskMaker =
  | { readonly kind: 'key'; readonly keyId: string }
  | { readonly kind: 'person'; readonly userId: string };

export type NewTask = {
  /** A UUID made by the caller, version 7 so that tasks lie in order of arrival. */
  readonly taskId: string;
  readonly accountId: string;
  /** Nothing new is accepted for a key that is revoked or has expired by now; a person's session is the caller's to judge. */
  readonly by?: TaskMaker | undefined;
  readonly param: TaskParam;
  /** What the catalogue says that a second costs; counts where no operator has decided otherwise. */
  readonly listedPrices: readonly ListedPrice[];
  /** What the catalogue says of its generation; the task stores both. */
  readonly deadlineMs: number;
  readonly providers?: readonly string[] | undefined;
  readonly idempotencyKey?: string | undefined;
  /** How fast an account may create tasks unless it has a rate of its own; no limit without it. */
  readonly createRate?: Rate | undefined;
  /** How its callback speaks; native without it. */
  readonly dialect?: Dialect | undefined;
};

export type Acceptance =
  | Accepted
  /** The same idempotency key came before with the same body: the first answer again. `state` is the task's own by now. */
  | (Pick<Accepted, 'taskId' | 'creditsCharged'> & { readonly kind: 'replayed'; readonly state: TaskState })
  | { readonly kind: 'key_reused' }
  /** The task of this idempotency key was deleted: what it was about is not known any more, and it is not made again. */
  | { readonly kind: 'content_deleted' }
  | { readonly kind: 'insufficient_credits'; readonly required: number; readonly balance: number }
  | { readonly kind: 'too_many_unfinished_tasks'; readonly limit: number }
  | { readonly kind: 'too_fast'; readonly rate: CreateRate }
  | { readonly kind: 'key_not_active' }
  | { readonly kind: 'account_suspended' }
  | { readonly kind: 'account_not_found' };

export type Accepted = {
  readonly kind: 'accepted';
  readonly taskId: string;
  readonly creditsCharged: number;
  /** Undefined when the account has no limit. */
  readonly rate?: CreateRate;
};

/** The rate that an account's creates are held to, and what is left of it. */
export type CreateRate = { readonly limit: Rate; readonly left: RateLeft };
