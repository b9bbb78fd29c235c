import { HttpError } from '../http/errors.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { foreseeOutcome } from './accept-task.ts';
import { acceptWithRetry } from './accept-with-retry.ts';
import { answerAttempt, isAttempt } from './create-attempts.ts';
import type { CreateOutcome, NewTask } from './create-outcome.ts';
import { mediaUrlsOf } from './task-input.ts';

/**
 * Has the content of a create checked before its charge, where the model or the installation has a moderation hook. Returns the outcome
 * of a create that needs no check, because it repeats an accepted one or is refused anyway; undefined if the task may be accepted.
 */
export async function moderateCreate(
  deps: Pick<HttpDeps, 'db' | 'log' | 'moderator' | 'refundUncertain'>,
  task: NewTask,
): Promise<CreateOutcome | undefined> {
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
  if (earlier?.kind === 'replayed') return earlier;
  if (verdict.kind === 'unchecked') throw new HttpError('moderation_unavailable');
  const { category } = verdict;
  log.info({ accountId, model, category }, 'create refused by moderation');
  const msg = `the content was refused by moderation (${category}); nothing was charged`;
  throw new HttpError('content_refused', { msg, data: { category } });
}

/**
 * Does the same as `foreseeOutcome`, but also records the task of another
 * attempt as the answer to this one. Until that is committed, the task could
 * still be refunded after an uncertain response.
 */
async function foresee(
  { db, refundUncertain }: Pick<HttpDeps, 'db' | 'refundUncertain'>,
  task: NewTask,
): Promise<CreateOutcome | undefined> {
  const foreseen = await foreseeOutcome(db, task);
  if (foreseen?.kind !== 'replayed' || !isAttempt(task)) return foreseen;
  return acceptWithRetry({ acceptCreate: (attempt) => answerAttempt(db, attempt), refundUncertain }, task);
}
