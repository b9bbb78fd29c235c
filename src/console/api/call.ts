import { hadRecentInput } from './had-recent-input.ts';
import type { Reads, Sends } from './contract.ts';
import { ApiProblem } from './api-problem-and-words.ts';

/** Whom a call is made for: an account, or undefined for what belongs to the person or the operators. */
export type ActingAccount = { readonly account: string | undefined };

export type ReadPath = keyof Reads;
export type SendPath = keyof Sends;
export type Query<Path extends ReadPath> = Reads[Path]['query'];
export type Answer<Path extends ReadPath> = Reads[Path]['answer'];
export type Body<Path extends SendPath> = Sends[Path]['body'];
export type SendAnswer<Path extends SendPath> = Sends[Path]['answer'];

/** GET. Ends with `ApiProblem` unless the service answered with success. */
export function read<Path extends ReadPath>(
  path: Path,
  query: Query<Path>,
  { account, signal }: ActingAccount & { readonly signal?: AbortSignal },
): Promise<Answer<Path>> {
  const address = `${path}${queryStringOf(query)}`;
  // Polling does not extend a session; input by a person does.
  const background = hadRecentInput() ? {} : { 'Videogen-Background': '1' };
  const headers = { ...consoleCallHeaders(account), ...background };
  // The contract is written from the service's own description.
  return exchange(address, { headers, ...(signal !== undefined && { signal }) }) as Promise<Answer<Path>>;
}

/** POST. `idempotencyKey` makes a repetition harmless. */
export function send<Path extends SendPath>(
  path: Path,
  body: Body<Path>,
  { account, idempotencyKey }: ActingAccount & { readonly idempotencyKey?: string },
): Promise<SendAnswer<Path>> {
  const headers = {
    ...consoleCallHeaders(account),
    'Content-Type': 'application/json',
    ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
  };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  // The same holds here.
  return exchange(path, init, idempotencyKey === undefined ? 'unanswered' : 'unanswered_once') as Promise<
    SendAnswer<Path>
  >;
}

/** The service ends a request after the same time, but a broken network may hide that. */
const uploadMs = 900_000;

/** More than any other request takes, also a create that is moderated and then waits for the database. */
const requestMs = 60_000;

/** POST of a file as it is. */
export function upload(file: Blob, { account }: ActingAccount): Promise<SendAnswer<'/api/v1/uploads'>> {
  const headers = { ...consoleCallHeaders(account), 'Content-Type': file.type };
  const init = { method: 'POST', headers, body: file };
  // The same holds here.
  return exchange('/api/v1/uploads', init, 'unanswered', uploadMs) as Promise<SendAnswer<'/api/v1/uploads'>>;
}

/** The query of an address, also for links that a browser follows, which carry no headers. */
export function queryStringOf(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`;
}

/** No other site can make a browser send these, so they distinguish a call of the console from a forged one. */
export function consoleCallHeaders(account: string | undefined): Record<string, string> {
  return { 'Videogen-Console': '1', ...(account !== undefined && { 'Videogen-Account': account }) };
}

/** `unanswered` is the error when no answer comes within `timeoutMs`. */
async function exchange(
  address: string,
  init: RequestInit,
  unanswered = 'offline',
  timeoutMs = requestMs,
): Promise<unknown> {
  const limit = AbortSignal.timeout(timeoutMs);
  const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
  const fail = (error: unknown): never => {
    if (init.signal?.aborted === true) throw error;
    throw new ApiProblem({ status: 0, error: unanswered, message: 'no answer', data: {}, requestId: undefined });
  };
  const response = await fetch(address, { ...init, signal, credentials: 'same-origin' }).catch(fail);
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const envelope: unknown = await response.json().catch((error: unknown) => (signal.aborted ? fail(error) : undefined));
  if (!isEnvelope(envelope)) {
    const error = response.status >= 502 ? unanswered : 'unreadable';
    throw new ApiProblem({ status: response.status, error, message: 'no envelope', data: {}, requestId });
  }
  const { code, msg, error, data } = envelope;
  const isObject = typeof data === 'object' && data !== null;
  if (code === 200) return data;
  const details = isObject ? { ...data } : {};
  throw new ApiProblem({ status: code, error: error ?? 'internal', message: msg, data: details, requestId });
}

type Envelope = { readonly code: number; readonly msg: string; readonly error?: string; readonly data: unknown };

function isEnvelope(value: unknown): value is Envelope {
  return typeof value === 'object' && value !== null && 'code' in value && 'msg' in value;
}
