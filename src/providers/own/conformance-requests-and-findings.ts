import { setTimeout as delay } from 'node:timers/promises';
import { parseRetryAfter } from '../../platform/outbound/retry-after.ts';
import { answerOrErrorOf } from '../classify-upstream-answers.ts';
import type { UpstreamClient } from '../provider-contract.ts';
import {
  type Received,
  receivedOf,
  errorCodeIn,
  failed,
  finalStatuses,
  verdictsOnEveryAnswer,
  type Finding,
  pass,
  type ConformanceRuleName,
  conformanceRules,
  skipped,
  jobStatusIn,
  type RuleVerdict,
} from './conformance-rules-and-verdicts.ts';

// One check of a server: its requests and findings.

export type ConformanceRunOptions = {
  readonly client: UpstreamClient;
  /** The same without the key, and with another one; undefined for a server without a key. */
  readonly strangers?: { readonly keyless: UpstreamClient; readonly invalid: UpstreamClient } | undefined;
  /** Bodies of two PUTs for different videos. */
  readonly bodies: { readonly first: string; readonly other: string };
  /** Describes the video, or throws why it is invalid. */
  readonly inspect: (path: string, signal: AbortSignal) => Promise<string>;
  /** A job of an earlier check, before the server was restarted; then only the rules for such a job are checked. */
  readonly earlierJob?: string | undefined;
  readonly workFolder: string;
  readonly pollMs: number;
  /** Aborted when the time limit of the entire run is over. */
  readonly signal: AbortSignal;
  readonly onFinding: (finding: Finding) => void;
  /** Prints progress. */
  readonly say: (line: string) => void;
};

/** The limits of Videogen's own requests. */
const timeoutsMs = { PUT: 60_000, GET: 10_000, DELETE: 15_000 } as const;
type Method = keyof typeof timeoutsMs;

/** More than the protocol allows, so that longer answers can be reported. */
const maxAnswerBytes = 1024 * 1024;
const defaultPauseMs = 5_000;
/** A canceled job must end within this time. */
export const stopTimeoutMs = 60_000;

export type ConformanceRun = ReturnType<typeof createConformanceRun>;
type RequestOptions = { readonly body?: string; readonly path?: '/video'; readonly client?: UpstreamClient };

export function createConformanceRun(check: ConformanceRunOptions) {
  const { client, signal, say, onFinding } = check;
  const seen: Received[] = [];
  const findings: Finding[] = [];
  const unfinished = new Set<string>();
  const isRecorded = (rule: ConformanceRuleName) => findings.some((one) => one.rule === rule);
  const record = (rule: ConformanceRuleName, { outcome, came }: RuleVerdict) => {
    if (isRecorded(rule)) return;
    const finding = { rule, outcome, expected: conformanceRules[rule], ...(came !== undefined && { came }) };
    findings.push(finding);
    onFinding(finding);
  };
  const send = async (
    method: Method,
    id: string,
    { body, path, client: by = client }: RequestOptions = {},
    until = signal,
  ) => {
    const target = `/jobs/${id}${path ?? ''}`;
    const options = { timeoutMs: timeoutsMs[method], maxBytes: maxAnswerBytes, signal: until };
    const sent = body === undefined ? {} : { body: { contentType: 'application/json', bytes: body } };
    const came = receivedOf(
      { method, path: target, id },
      await answerOrErrorOf(by.call(method, target, { ...options, ...sent })),
    );
    seen.push(came);
    const status = path === undefined ? jobStatusIn(came) : undefined;
    if (status !== undefined && finalStatuses.includes(status)) unfinished.delete(id);
    else if (status !== undefined) unfinished.add(id);
    return came;
  };
  return {
    ...check,
    send,
    record,
    pause: async (ms: number) => await delay(ms, undefined, { signal }).catch(() => undefined),
    /** Tests a rule unless it has a finding or the time is over; returns whether the server follows it. */
    test: async (rule: ConformanceRuleName, work: () => Promise<RuleVerdict>) => {
      if (isRecorded(rule)) return false;
      const verdict = signal.aborted ? skipped('the time was over') : await work();
      record(rule, verdict);
      return verdict.outcome === 'pass';
    },
    skip: (names: readonly ConformanceRuleName[], why: string) => {
      for (const rule of names) record(rule, skipped(why));
    },
    stopJobs: async () => {
      for (const id of unfinished) {
        const { came } = await send('DELETE', id, {}, AbortSignal.timeout(timeoutsMs.DELETE));
        if (unfinished.has(id)) say(`job ${id} may still run: ${came}`);
      }
    },
    end: (): readonly Finding[] => {
      for (const [rule, verdict] of verdictsOnEveryAnswer(seen)) record(rule, verdict);
      return findings;
    },
  };
}

/** Polls the job until it has ended, or is lost, or the time is over. */
export async function followToEnd({ send, pause, pollMs, signal, say }: ConformanceRun, id: string): Promise<Received> {
  let [last, printed, misses] = [await send('GET', id), '', 0];
  while (!isFinalRecord(last) && misses < 2 && !signal.aborted) {
    const line = `job ${id}: ${jobStatusIn(last) ?? last.came} ${shownProgress(last)}`.trimEnd();
    if (line !== printed) say((printed = line));
    await pause(pollMs);
    if (signal.aborted) break;
    last = await send('GET', id);
    misses = last.status === 404 ? misses + 1 : 0;
  }
  return last;
}

function shownProgress({ body }: Received): string {
  return typeof body?.['progress'] === 'number' ? `${body['progress']} %` : '';
}

/** Sends a PUT, or several at the same time. A server with one slot may be busy for a while, and reports it to all of them. */
export async function putWhenFree(
  { send, pause, bodies, say, signal }: ConformanceRun,
  id: string,
  times = 1,
): Promise<readonly Received[]> {
  for (;;) {
    const sent = Array.from({ length: times }, () => send('PUT', id, { body: bodies.first }));
    const answers = await Promise.all(sent);
    const [first] = answers;
    if (first === undefined || signal.aborted || !answers.every(isBusy)) return answers;
    say(`the server is busy: ${first.came}`);
    const headers = 'answer' in first.reply ? first.reply.answer.headers : {};
    await pause(parseRetryAfter(headers['retry-after'], Date.now()) ?? defaultPauseMs);
  }
}

function isBusy(answer: Received): boolean {
  return answer.status === 429 || (answer.status === 503 && errorCodeIn(answer) !== undefined);
}

export function verdictOnStatus(answer: Received, statuses: readonly number[]): RuleVerdict {
  return statuses.includes(answer.status ?? 0) ? pass : failed(answer.came);
}

/** Accepts a 404 without a code, because the rule `errors` reports it. */
export function verdictOnUnknownJob(answer: Received): RuleVerdict {
  const code = errorCodeIn(answer);
  return answer.status === 404 && (code ?? 'not_found') === 'not_found' ? pass : failed(answer.came);
}

export function verdictOnRecord(answer: Received, statuses: readonly number[]): RuleVerdict {
  return jobStatusIn(answer) === undefined ? failed(answer.came) : verdictOnStatus(answer, statuses);
}

export function hasJobStatus(answer: Received, status: string): boolean {
  return answer.status === 200 && jobStatusIn(answer) === status;
}

export function isFinalRecord(answer: Received): boolean {
  return finalStatuses.includes(jobStatusIn(answer) ?? '');
}
