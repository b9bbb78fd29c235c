import type { Failure } from '../ui/notice.tsx';

export type FieldFault = { readonly path: string; readonly message: string };

/** A call that was refused or never arrived. `status` is 0 when there was no answer. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  /** The stable string of the API's refusals; `offline`, `unanswered`, `unanswered_once` and `unreadable` are the console's own. */
  readonly error: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly requestId: string | undefined;

  constructor(problem: Pick<ApiProblem, 'status' | 'error' | 'message' | 'data' | 'requestId'>) {
    super(problem.message);
    this.status = problem.status;
    this.error = problem.error;
    this.data = problem.data;
    this.requestId = problem.requestId;
  }

  /** Faults of the fields of a form, by the path of each. */
  get faults(): Readonly<Record<string, string>> {
    const { errors } = this.data;
    if (this.error !== 'invalid_request' || !Array.isArray(errors)) return {};
    const faults = errors.filter(isFault).map(({ path, message }) => [path, sentence(message)] as const);
    return Object.fromEntries(faults);
  }
}

function isFault(value: unknown): value is FieldFault {
  return typeof value === 'object' && value !== null && 'path' in value && 'message' in value;
}

export function problemOf(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ApiProblem({ status: 0, error: 'unreadable', message, data: {}, requestId: undefined });
}

/** In the console's words, where it knows better what to do than the API, whose reader is a program. */
const words: Readonly<Record<string, readonly [title: string, sentence: string]>> = {
  offline: ['No connection', 'The service did not answer. Check your network; the page tries again by itself.'],
  unanswered: [
    'No connection',
    'The service did not answer, so it is not known whether this was done. Check your network and this page, then try again.',
  ],
  unanswered_once: [
    'No connection',
    'The service did not answer, so it is not known whether this was done. Press the button again: it is never done twice.',
  ],
  unreadable: ['Unexpected answer', 'The service answered something this page cannot read. Reload the page.'],
  database_unavailable: ['The service is recovering', 'Its database does not answer. Try again in a few seconds.'],
  database_busy: ['The service is busy', 'Too many requests wait for the database. Nothing was changed or charged.'],
  rate_limited: ['Too many requests', 'Wait a few seconds, then try again.'],
  scope_missing: ['Not allowed', 'Your role in this account does not allow this. Ask an owner of the account.'],
  account_suspended: [
    'Account suspended',
    'An operator has suspended this account. No task can be created until the suspension is lifted.',
  ],
  insufficient_credits: ['Not enough credits', 'The balance does not cover this video.'],
  too_many_unfinished_tasks: [
    'Too many videos at once',
    'This account has as many unfinished tasks as it may have. Wait until one ends.',
  ],
  acceptance_unknown: [
    'The answer was lost',
    'It is not known whether the task was accepted. Press the button again: it never charges twice.',
  ],
  task_not_found: ['No such task', 'It does not exist, or belongs to another account.'],
  account_not_found: ['No such account', 'It does not exist, or you are not a member of it.'],
  sign_in_failed: ['Sign-in failed', 'E-mail or password is wrong.'],
  internal: ['Something went wrong', 'The fault is on our side and was logged. Try again.'],
};

/** What a person reads of it: what, why, what now. */
export function failureOf(error: unknown): Failure {
  const problem = problemOf(error);
  const known = words[problem.error];
  const requestId = problem.status >= 500 ? problem.requestId : undefined;
  if (known !== undefined) return { title: known[0], sentence: known[1], requestId };
  const title = problem.status === 403 ? 'Not allowed' : problem.status >= 500 ? 'Something went wrong' : 'Not done';
  return { title, sentence: sentence(problem.message), requestId };
}

/** The API writes in lower case and without a full stop. */
export function sentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
