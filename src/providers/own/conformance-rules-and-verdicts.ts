import { z } from 'zod';
import { jsonObjectIn, detailOfAnswerOrError, type AnswerOrError, storableText } from '../classify-upstream-answers.ts';
import type { JsonObject } from '../../platform/text/json.ts';

// The rules that a server of docs/providers/own.md is checked for, each with the text of its finding.

/** By their names, in the order of the report. Rules that need a job are skipped without one. */
export const conformanceRules = {
  'key-missing': 'a request without the key is answered 401',
  'key-invalid': 'a PUT with an invalid key gets 401 and creates no job',
  'get-unknown': 'GET of an unknown id is answered 404 not_found',
  'video-unknown': 'GET of the video of an unknown id is answered 404',
  'delete-unknown': 'DELETE of an unknown id is answered 404 not_found, 405, or 200 and canceled',
  'put-no-json': 'a PUT whose body is no JSON is refused with 400 or 422, and makes no job',
  'put-version': 'a PUT of an unknown version of the protocol is refused with 400 or 422, and makes no job',
  put: 'PUT of a new id is answered 200 or 201 and its record',
  'get-running': 'GET of a job that was just made is answered 200 and its record',
  'put-again': 'PUT of a running job is answered 200 and its record',
  'put-other-body': 'PUT of a running job with another body is answered 200 and its record: the id alone decides',
  'video-early': 'GET of the video is answered 404 before the job has ended',
  succeeds: 'the job succeeds',
  video: 'the video of a job that succeeded can be downloaded',
  'video-plays': 'the video can be read by ffmpeg and be delivered',
  'video-range': 'Range is answered with 206, Content-Range and the rest of the same bytes',
  'put-ended': 'PUT of a job that ended is answered 200, and the job stays as it ended',
  'delete-ended': 'DELETE of a job that ended is answered 200 and its record, or 405, and the job stays as it ended',
  'video-stays': 'the video is the same after all this',
  'put-twice': 'two PUTs of one id at the same time are both answered with its record, and one at most with 201',
  cancel: 'DELETE of a running job is answered 200, and the job ends, or 405',
  'cancel-again': 'a second DELETE is answered as the job is',
  'put-canceled': 'PUT of a canceled job is answered 200 and begins nothing',
  'video-canceled': 'the video of a canceled job is answered 404',
  restart: 'after a restart the job is known as it ended',
  'record-id': 'every record has the id of its request',
  'record-status': 'every status is queued, running, succeeded, failed or canceled',
  'record-fields': 'progress is 0 to 100, error has a code and a message, cost has micros and a currency',
  errors: 'every refusal has the body {"error": {"code": "…", "message": "…"}}',
  length: 'every answer has a Content-Length or is chunked',
  size: 'a record and an error have at most 64 KiB',
} as const;

export type ConformanceRuleName = keyof typeof conformanceRules;

export type Finding = {
  readonly rule: ConformanceRuleName;
  readonly outcome: 'pass' | 'fail' | 'skipped';
  readonly expected: string;
  /** The actual answer, or the reason for skipping the rule. */
  readonly came?: string;
};

export type RuleVerdict = Pick<Finding, 'outcome' | 'came'>;

export const pass: RuleVerdict = { outcome: 'pass' };

export function failed(came: string): RuleVerdict {
  return { outcome: 'fail', came };
}

export function skipped(came: string): RuleVerdict {
  return { outcome: 'skipped', came };
}

/** The result of one request. `came` is its text for the report. */
export type Received = {
  readonly request: { readonly method: string; readonly path: string; readonly id: string };
  readonly status: number | undefined;
  readonly body: JsonObject | undefined;
  readonly reply: AnswerOrError;
  readonly came: string;
};

const maxShown = 300;

export function receivedOf(request: Received['request'], reply: AnswerOrError): Received {
  const answer = 'answer' in reply ? reply.answer : undefined;
  const text =
    answer === undefined ? `no answer: ${detailOfAnswerOrError(reply)}` : detailOfAnswerOrError(reply).trimEnd();
  const came = `${request.method} ${request.path}: ${storableText(text, maxShown)}`;
  return { request, status: answer?.status, body: answer && jsonObjectIn(answer), reply, came };
}

export const finalStatuses = ['succeeded', 'failed', 'canceled'];
const statuses = ['queued', 'running', ...finalStatuses];

/** The `status` of an answer with a record; undefined for any other answer. */
export function jobStatusIn({ status, body }: Received): string | undefined {
  return status !== undefined && status < 300 && typeof body?.['status'] === 'string' ? body['status'] : undefined;
}

export function errorCodeIn({ body }: Received): string | undefined {
  return errorSchema.safeParse(body?.['error']).data?.code;
}

const maxBytes = 64 * 1024;
const errorSchema = z.object({ code: z.string().min(1), message: z.string().optional() });
const fieldsSchema = z
  .object({
    status: z.unknown(),
    progress: z.number().min(0).max(100).nullish(),
    error: errorSchema.nullish(),
    cost: z.object({ micros: z.int().nonnegative(), currency: z.string().regex(/^[A-Z]{3}$/) }).nullish(),
  })
  .refine(({ status, error }) => status !== 'failed' || (error ?? undefined) !== undefined, {
    path: ['error'],
    error: 'is missing',
  });

/** Checks the rules that apply to every answer. */
export function verdictsOnEveryAnswer(
  all: readonly Received[],
): readonly (readonly [ConformanceRuleName, RuleVerdict])[] {
  const answered = all.filter(({ status }) => status !== undefined);
  const records = answered.filter((one) => jobStatusIn(one) !== undefined);
  const refusals = answered.filter(({ status = 0 }) => status >= 400);
  const verdict = (among: readonly Received[], problemOf: (one: Received) => string | undefined): RuleVerdict => {
    if (among.length === 0) return skipped('no answer of this kind');
    for (const one of among) {
      const problem = problemOf(one);
      if (problem !== undefined) return failed(`${problem}: ${one.came}`);
    }
    return pass;
  };
  return [
    ['record-id', verdict(records, ({ request, body }) => (body?.['id'] === request.id ? undefined : 'another id'))],
    [
      'record-status',
      verdict(records, (one) => (statuses.includes(jobStatusIn(one) ?? '') ? undefined : 'unknown word')),
    ],
    ['record-fields', verdict(records, ({ body }) => fieldProblem(body))],
    ['errors', verdict(refusals, (one) => (errorCodeIn(one) === undefined ? 'no error with a code' : undefined))],
    ['length', verdict(answered, (one) => (hasLength(one) ? undefined : 'neither'))],
    ['size', verdict([...records, ...refusals], (one) => (bytesOf(one) > maxBytes ? 'more' : undefined))],
  ];
}

function fieldProblem(body: JsonObject | undefined): string | undefined {
  const [issue] = fieldsSchema.safeParse(body).error?.issues ?? [];
  return issue && `${issue.path.join('.')}: ${issue.message}`;
}

function hasLength({ reply }: Received): boolean {
  if ('error' in reply) return true;
  const { headers } = reply.answer;
  return headers['content-length'] !== undefined || headers['transfer-encoding'] === 'chunked';
}

function bytesOf({ reply }: Received): number {
  return 'answer' in reply ? reply.answer.body.length : 0;
}
