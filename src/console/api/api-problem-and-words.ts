/** A failed call, in words. */
export type Failure = {
  readonly title: string;
  readonly sentence: string;
  /** Support finds the request by it. */
  readonly requestId?: string | undefined;
};

type FieldError = { readonly path: string; readonly message: string };

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

  /** Errors of the fields of a form, by the path of each. */
  get errors(): Readonly<Record<string, string>> {
    const { errors } = this.data;
    if (this.error !== 'invalid_request' || !Array.isArray(errors)) return {};
    const found = errors.filter(isFieldError).map(({ path, message }) => [path, toSentence(message)] as const);
    return Object.fromEntries(found);
  }
}

function isFieldError(value: unknown): value is FieldError {
  return typeof value === 'object' && value !== null && 'path' in value && 'message' in value;
}

export function apiProblemFromError(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ApiProblem({ status: 0, error: 'unreadable', message, data: {}, requestId: undefined });
}

/** The API writes for programs; these errors need other words for people. */
const words: Readonly<Record<string, readonly [title: string, sentence: string]>> = {
  offline: ['No connection', 'The service did not respond. Check your network; the page retries automatically.'],
  unanswered: [
    'No connection',
    'The service did not respond, so the change may or may not have been made. Check this page, then try again.',
  ],
  unanswered_once: [
    'No connection',
    'The service did not respond. Try again: the retry is safe and never charges or books twice.',
  ],
  unreadable: ['Unexpected response', 'The service sent a response this page cannot read. Reload the page.'],
  database_unavailable: ['The service is recovering', 'Its database is unavailable. Try again in a few seconds.'],
  disk_full: [
    'The service is recovering',
    'One of its disks is full. Nothing was changed or charged. Try again later.',
  ],
  database_busy: ['The service is busy', 'Nothing was changed or charged. Try again in a few seconds.'],
  rate_limited: ['Too many requests', 'Wait a few seconds, then try again.'],
  scope_missing: ['Not allowed', 'Your role does not allow this. Ask an owner of the account.'],
  read_only_view: ['Read-only', 'You are viewing this account as its owner sees it. Nothing was changed.'],
  account_suspended: [
    'Account suspended',
    'An operator suspended this account. You can’t create tasks until the suspension is lifted.',
  ],
  insufficient_credits: ['Not enough credits', 'The balance does not cover this video.'],
  too_many_unfinished_tasks: [
    'Too many unfinished videos',
    'This account has reached its limit of unfinished tasks. Wait until one finishes.',
  ],
  acceptance_unknown: [
    'No response',
    'The task may have been accepted. Try again: the retry is safe and never charges twice.',
  ],
  idempotency_key_reused: [
    'Already submitted',
    'An earlier attempt with other values succeeded. Check its result before you submit again.',
  ],
  sign_in_failed: ['Sign-in failed', 'Wrong e-mail or password.'],
  internal: ['Something went wrong', 'The error was logged. Try again.'],
};

/** Explains an error: its cause, and the remedy. `fields` are errors that no field in sight shows. */
export function failureOf(error: unknown, fields: readonly (readonly [path: string, message: string])[] = []): Failure {
  const problem = apiProblemFromError(error);
  const requestId = problem.status >= 500 ? problem.requestId : undefined;
  const [title, text] = words[problem.error] ?? [titleOf(problem.status), toSentence(problem.message)];
  const details = fields.map(([path, message]) => `${path}: ${message}`).join(' ');
  return { title, sentence: details === '' ? text : details, requestId };
}

function titleOf(status: number): string {
  if (status === 403) return 'Not allowed';
  return status >= 500 ? 'Something went wrong' : 'Request failed';
}

/** The API writes in lower case and without a full stop. */
export function toSentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
