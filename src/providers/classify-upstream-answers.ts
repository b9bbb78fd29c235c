import { z } from 'zod';
import { parseRetryAfter } from '../platform/outbound/retry-after.ts';
import { isObject, parsedJson, type JsonObject } from '../platform/text/json.ts';
import type {
  JobStatus,
  NotAccepted,
  Refused,
  SubmitOutcome,
  UpstreamAnswer,
  UpstreamErrorReason,
  Warn,
} from './provider-contract.ts';

// The rules that decide what an answer proves, the same for all upstreams. Each adapter adds the meaning of its vendor's words.

/** The answer to a call, or the error of the client. */
export type AnswerOrError = { readonly answer: UpstreamAnswer } | { readonly error: unknown };

export async function answerOrErrorOf(call: Promise<UpstreamAnswer>): Promise<AnswerOrError> {
  return await call.then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  );
}

/** An error body that only the vendor writes, and no proxy before it. */
export type VendorError = { readonly code?: string; readonly message?: string };

const codedSchema = z.object({ code: z.string().min(1), message: z.string().catch('') });

/** Reads the error in a body such as `{"error": {"code": "not_found", "message": "…"}}`. */
export function codedErrorIn(body: JsonObject): Required<VendorError> | undefined {
  return codedSchema.safeParse(body['error']).data;
}

export type CreateRules = {
  /** The vendor's error in a body, undefined when the body is something else. */
  readonly errorOf: (body: JsonObject) => VendorError | undefined;
  /** The new job in the body of a 2xx. */
  readonly jobOf: (body: JsonObject) => { readonly id: string; readonly handle?: JsonObject } | undefined;
  /** Classifies a vendor's error; undefined leaves it to the common rules. */
  readonly classify: (
    error: VendorError & { readonly status: number; readonly detail: string },
  ) => NotAccepted | Refused | { readonly kind: 'unknown'; readonly detail: string } | undefined;
};

/**
 * Frameworks redirect with 301, 302 or 303 after they have processed a POST. 307 and 308 request a repetition elsewhere, so nothing
 * was processed.
 */
export const unprovenStatuses = new Set([301, 302, 303, 408, 425, 499]);
const operatorStatuses = new Set([401, 402, 403]);

/**
 * Decides whether a create made a job. "No job" needs proof: nothing was sent, or the vendor itself rejected it. Everything else
 * that is no acceptance is `unknown`.
 */
export function classifyCreate(reply: AnswerOrError, rules: CreateRules): SubmitOutcome {
  const detail = detailOfAnswerOrError(reply);
  if ('error' in reply) {
    return wasSent(reply.error) ? { kind: 'unknown', detail } : { kind: 'not_accepted', reason: 'unreachable', detail };
  }
  const { status } = reply.answer;
  const body = jsonObjectIn(reply.answer);
  const job = isSuccess(status) && body !== undefined ? rules.jobOf(body) : undefined;
  if (job !== undefined && isStorableJob(job)) return { kind: 'accepted', ...job };
  const error = body === undefined ? undefined : rules.errorOf(body);
  const vendors = error === undefined ? undefined : rules.classify({ ...error, status, detail });
  if (vendors !== undefined)
    return vendors.kind === 'not_accepted' ? { ...retryOf(reply.answer), ...vendors } : vendors;
  if (isSuccess(status) || status >= 500 || unprovenStatuses.has(status)) return { kind: 'unknown', detail };
  if (status < 400 || operatorStatuses.has(status)) return { kind: 'not_accepted', reason: 'operator', detail };
  if (status === 429) return { kind: 'not_accepted', reason: 'busy', ...retryOf(reply.answer), detail };
  if (error === undefined) return { kind: 'unknown', detail };
  const code = error.code === undefined ? {} : { code: error.code };
  return { kind: 'refused', error: { kind: 'upstream', ...code, detail } };
}

/** LiteLLM packs names into the ids of jobs, which become longer than 300 characters. */
export const maxJobIdLength = 4096;
const maxHandleBytes = 4096;

/** True if the database accepts id and handle. A job that could not be stored would be lost, and paid for. */
export function isStorableJob({ id, handle }: { readonly id: string; readonly handle?: JsonObject }): boolean {
  const isUsable = id.length <= maxJobIdLength && /^[\x21-\x7e]+$/.test(id);
  return isUsable && Buffer.byteLength(JSON.stringify(handle ?? {})) <= maxHandleBytes;
}

/** The body of a 2xx, or else the status of every job of the request. */
export type PollBodyOrStatus =
  | { readonly body: JsonObject }
  | { readonly status: Extract<JobStatus, { state: 'missing' | 'unclear' }> };

/** Only the vendor's own answer is a verdict: a 404 of a proxy, an error or a body that is no JSON proves nothing about the job. */
export function bodyOrStatusOfPoll(
  reply: AnswerOrError,
  isMissing: (body: JsonObject, status: number) => boolean = () => false,
): PollBodyOrStatus {
  const detail = detailOfAnswerOrError(reply);
  if ('error' in reply) return { status: { state: 'unclear', detail } };
  const body = jsonObjectIn(reply.answer);
  if (body !== undefined && isMissing(body, reply.answer.status)) return { status: { state: 'missing' } };
  if (body !== undefined && isSuccess(reply.answer.status)) return { body };
  return { status: { state: 'unclear', ...retryOf(reply.answer), detail } };
}

export type MissingOrUnclearPoll = Extract<PollBodyOrStatus, { status: object }>;

export function unclearPollOf(reply: AnswerOrError): MissingOrUnclearPoll {
  return { status: { state: 'unclear', detail: detailOfAnswerOrError(reply) } };
}

/** Reads the body of a 2xx; one that `parse` does not accept is no verdict. */
export function parsedBodyOrPollStatus<Read>(
  reply: AnswerOrError,
  parse: (body: JsonObject) => Read | undefined,
): { readonly read: Read } | MissingOrUnclearPoll {
  const poll = bodyOrStatusOfPoll(reply);
  if ('status' in poll) return poll;
  const read = parse(poll.body);
  return read === undefined ? unclearPollOf(reply) : { read };
}

/** True if the vendor declined to cancel a job. A missing right or too many requests prove nothing about the job. */
export function declinesCancel(reply: AnswerOrError): boolean {
  if ('error' in reply) return false;
  const { status } = reply.answer;
  const isTemporary = operatorStatuses.has(status) || unprovenStatuses.has(status) || status === 429;
  return status >= 400 && status < 500 && !isTemporary;
}

const maxLoggedWords = 20;

/** Reads a vendor's words for states. A word that is not in the table means `running`, because it proves no end; it is logged once. */
export function createStateReader<State extends string>(
  words: Readonly<Record<string, State>>,
  warn: Warn,
): (word: string) => State | 'running' {
  const logged = new Set<string>();
  return (word) => {
    const state = Object.hasOwn(words, word) ? words[word] : undefined;
    if (state !== undefined) return state;
    if (!logged.has(word) && logged.size < maxLoggedWords) {
      logged.add(word);
      warn('provider state unknown', storableText(word, 100));
    }
    return 'running';
  };
}

export function detailOfAnswerOrError(reply: AnswerOrError): string {
  if ('error' in reply) return storableText(errorText(reply.error));
  return storableText(`HTTP ${reply.answer.status}: ${reply.answer.body.toString('utf8')}`);
}

/** Text of an upstream as it may be stored: bounded, and without what the database cannot hold. */
export function storableText(text: string, maxLength = 8192): string {
  return text.slice(0, maxLength).replaceAll('\0', '').toWellFormed();
}

/** The error of an upstream in its own words. */
export function storableUpstreamError(
  kind: UpstreamErrorReason['kind'],
  code: string,
  message: string,
): UpstreamErrorReason {
  return { kind, code: storableText(code, 100), detail: storableText(message) };
}

/** Our clients put details for operators into `detail`, because clients may read the message. */
function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'detail' in error ? `${error.message} (${String(error.detail)})` : error.message;
}

/** Only an error with `wasSent: false` proves that nothing was sent. */
function wasSent(error: unknown): boolean {
  return !(error instanceof Error && 'wasSent' in error && error.wasSent === false);
}

/** The JSON object in an answer; undefined for anything else. */
export function jsonObjectIn({ body }: UpstreamAnswer): JsonObject | undefined {
  const value = parsedJson(body.toString('utf8'));
  // The fields of parsed JSON are nothing but JSON.
  return isObject(value) ? (value as JsonObject) : undefined;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

const maxRetryAfterMs = 3_600_000;

/** An upstream may request a pause of at most an hour. */
function retryOf({ headers }: UpstreamAnswer): { readonly retryAfterMs?: number } {
  const retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now());
  return retryAfterMs === undefined ? {} : { retryAfterMs: Math.min(retryAfterMs, maxRetryAfterMs) };
}
