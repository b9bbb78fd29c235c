import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../../accounts/keys/scopes-dialects-and-caller.ts';
import type { FrameSize } from '../../catalogue/media/frame-size.ts';
import { findNamedUploadErrors } from '../../media/references/check-named-uploads.ts';
import type { TaskEventSink } from '../task-metric-events.ts';
import { imageRefusalOfModel } from '../../catalogue/models/input-refusals-and-untried-tiers.ts';
import type { CatalogueModel } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { Moderator } from '../../providers/moderation/moderator.ts';
import type { Database } from '../../platform/database/database.ts';
import type { FieldError } from '../../platform/text/field-errors.ts';
import type { Rate } from '../../platform/timing/parse-rate-and-rate-left.ts';
import { findRefusalOrReplay } from './accept-one-task.ts';
import {
  lockAndAnswerWithEarlierTask,
  findTaskToAnswerAttempt,
  mayRepeatWithoutKey,
} from './answer-repeated-creates.ts';
import type { Accepted, CreateOutcome, NewTask, Replayed, UncertainOutcome } from './acceptance-contract.ts';
import type { TaskToStart } from '../../catalogue/tasks/workflow-engine.ts';
import { acceptWithRetry, type RefundUncertain } from './accept-with-retry.ts';
import { mediaUrlsOf, type TaskParam } from '../../catalogue/input/task-input.ts';
import type { ParsedOrRefusedRequest } from './parse-task-request.ts';
import { taskTerms } from './task-terms-and-request-fingerprint.ts';

/** The request of an authenticated caller, and errors outside of its input, which a refusal lists first. */
type CallersRequest = {
  readonly caller: Caller;
  readonly request: ParsedOrRefusedRequest;
  readonly errors?: readonly FieldError[];
};

export type TaskOrder = CallersRequest &
  Pick<NewTask, 'idempotencyKey' | 'attempt' | 'repeatWindowMs'> & {
    /** The API in whose form the callback is sent: a dialect, or a shape of `src/api/dialects`. */
    readonly dialect: string;
  };

export type CheckRequestDeps = {
  readonly db: Database;
  /** Base URL of the service, without a trailing slash. */
  readonly publicUrl: string;
  /** False while the live workers cannot generate the model. */
  readonly isSold: (model: string) => boolean;
};

type ModerationDeps = {
  readonly db: Database;
  readonly log: Logger;
  /** Checks the content of creates before their charge. */
  readonly moderator: Moderator;
  readonly refundUncertain: RefundUncertain;
};

export type OrderTaskDeps = CheckRequestDeps &
  ModerationDeps & {
    readonly acceptCreate: (task: NewTask) => Promise<CreateOutcome>;
    /** The rate of creates of accounts without a rate of their own; undefined for no limit. */
    readonly createRate: Rate | undefined;
    /** The disk that cannot be written; undefined while all can. Returns immediately. */
    readonly diskProblem: () => string | undefined;
    /** Starts the workflow in the background; never throws. */
    readonly startTask: (task: TaskToStart) => void;
    readonly events: TaskEventSink;
  };

/** `param`: the validated request of this call. The task of a replay may have been stored with another seed. */
export type CreatedTask = (Accepted | Replayed) & { readonly param: TaskParam };

export type RequestRefusal =
  | { readonly kind: 'invalid_request'; readonly errors: readonly FieldError[]; readonly hint: string | undefined }
  | { readonly kind: 'model_not_allowed'; readonly model: string; readonly allowed: readonly string[] }
  | { readonly kind: 'model_unavailable' };

type ModerationRefusal =
  | { readonly kind: 'content_refused'; readonly category: string }
  | { readonly kind: 'moderation_unavailable' };

type AcceptanceRefusal = Exclude<CreateOutcome, { readonly kind: 'accepted' | 'replayed' | 'account_not_found' }>;

/** The reason why nothing was accepted, or why that is uncertain. */
export type OrderRefusal =
  | RequestRefusal
  | { readonly kind: 'disk_full' }
  | ModerationRefusal
  | AcceptanceRefusal
  | UncertainOutcome;

/**
 * Checks an order, has its content checked, accepts and charges its task, and starts the workflow. The acceptance calls
 * `acceptWithRetry` (uncertain commits) around the acceptor (`accept-in-batches.ts`), which runs the statements of
 * `accept-statement.ts`. These have the rules, except for spend caps, which `acceptCapped` of `accept-one-task.ts` applies; that file accepts a
 * task alone, or returns why it is refused. A task that the moderation hook would check in vain is refused before (`findRefusalOrReplay`).
 */
export async function orderTask(order: TaskOrder, deps: OrderTaskDeps): Promise<CreatedTask | OrderRefusal> {
  const request = await checkRequest(order, deps);
  if (request.kind !== 'valid') return request;
  // A task that is accepted now could not be finished.
  if (deps.diskProblem() !== undefined) return { kind: 'disk_full' };
  const { accountId } = order.caller;
  const task = newTask(order, request, deps.createRate);
  const outcome = (await moderateCreate(deps, task)) ?? (await accept(deps, task));
  if (outcome.kind === 'account_not_found') throw new Error('the account of a caller does not exist');
  if (outcome.kind !== 'accepted' && outcome.kind !== 'replayed') return outcome;
  // A replay starts a task whose first process may have stopped before starting it.
  const isStarted = outcome.kind === 'replayed' && outcome.state !== 'waiting';
  if (!isStarted) deps.startTask({ taskId: outcome.taskId, accountId, model: task.param.model });
  return { ...outcome, param: task.param };
}

type ValidRequest = { readonly kind: 'valid'; readonly param: TaskParam; readonly model: CatalogueModel };

/** Checks what a request names: its uploads, and its model, which must be allowed for the API key and be generated now. */
export async function checkRequest(
  { caller, request: translated, errors = [] }: CallersRequest,
  { db, publicUrl, isSold }: CheckRequestDeps,
): Promise<ValidRequest | RequestRefusal> {
  let request = translated;
  if (request.ok) {
    const { model, param } = request;
    const refuseSize = (size: FrameSize) => imageRefusalOfModel(model, param.input, size);
    const media = { accountId: caller.accountId, publicUrl, input: param.input, refuseSize };
    const ofUploads = await findNamedUploadErrors(db, media);
    if (ofUploads.length > 0) request = request.refuseWith(ofUploads);
  }
  if (!request.ok) return { kind: 'invalid_request', errors: [...errors, ...request.errors], hint: request.hint };
  if (errors.length > 0) return { kind: 'invalid_request', errors, hint: undefined };
  const { param, model } = request;
  const { models: allowed } = caller;
  if (allowed?.includes(model.model) === false) return { kind: 'model_not_allowed', model: model.model, allowed };
  if (!isSold(model.model)) return { kind: 'model_unavailable' };
  return { kind: 'valid', param, model };
}

/** The task takes its prices and its deadline from the model of its request, so that later changes of the catalogue do not affect it. */
function newTask(order: TaskOrder, { model, param }: ValidRequest, createRate: Rate | undefined): NewTask {
  const { caller, dialect, idempotencyKey, attempt, repeatWindowMs } = order;
  const { accountId, by } = caller;
  const repeat = { idempotencyKey, attempt, repeatWindowMs };
  return { taskId: uuidv7(), accountId, by, ...taskTerms(model, param), ...repeat, createRate, dialect };
}

/**
 * Has the content of a create checked before its charge, where the model or the installation has a moderation hook. Returns the outcome
 * of a create that needs no check, because it repeats an accepted one or is refused anyway; undefined if the task may be accepted.
 */
export async function moderateCreate(
  deps: ModerationDeps,
  task: NewTask,
): Promise<CreateOutcome | UncertainOutcome | ModerationRefusal | undefined> {
  const { log, moderator } = deps;
  const { accountId, param } = task;
  const { model, input } = param;
  if (!moderator.checks(model)) return undefined;
  const foreseen = await foresee(deps, task);
  if (foreseen !== undefined) return foreseen;
  const images = mediaUrlsOf(input).filter(({ kind }) => kind === 'image');
  const verdict = await moderator.check({ model, prompt: input.prompt, imageUrls: images.map(({ url }) => url) });
  if (verdict.kind === 'allowed') return undefined;
  // A hook may return another verdict for the same content. If another attempt
  // at this create was accepted in the meantime, its task is returned.
  const earlier = await foresee(deps, task);
  if (earlier?.kind === 'replayed' || earlier?.kind === 'acceptance_reverted') return earlier;
  if (verdict.kind === 'unchecked') return { kind: 'moderation_unavailable' };
  const { category } = verdict;
  log.info({ accountId, model, category }, 'create refused by moderation');
  return { kind: 'content_refused', category };
}

/**
 * Does the same as `findRefusalOrReplay`, and records the task of another attempt as the answer to this one. Until that is committed, the task
 * could still be refunded after an uncertain response.
 */
async function foresee({ db, refundUncertain }: ModerationDeps, task: NewTask) {
  if (!mayRepeatWithoutKey(task) || (await findTaskToAnswerAttempt(db, task)) === undefined)
    return await findRefusalOrReplay(db, task);
  return await acceptWithRetry(
    { accept: (attempt) => lockAndAnswerWithEarlierTask(db, attempt), refundUncertain },
    task,
  );
}

/** Accepts a task, and counts it once. */
async function accept({ acceptCreate, refundUncertain, events }: OrderTaskDeps, task: NewTask) {
  const startedAt = performance.now();
  const outcome = await acceptWithRetry({ accept: acceptCreate, refundUncertain }, task);
  if (outcome.kind === 'accepted') {
    events.emit({ kind: 'stage_ended', stage: 'accept', durationMs: performance.now() - startedAt });
    events.emit({ kind: 'task_charged', model: task.param.model, credits: outcome.creditsCharged });
  }
  return outcome;
}
