import type { Clock } from './clock.ts';
import type { ErrorCode } from './contract.ts';
import { VideogenError } from './videogen-error.ts';

/** Larger than any response of the service: a page of a hundred tasks with the longest prompts and URLs. */
const maxAnswerBytes = 16 * 1024 * 1024;

type Envelope = {
  readonly code: number;
  readonly msg: string;
  readonly error?: unknown;
  readonly data: Readonly<Record<string, unknown>>;
};

export type Answer = { readonly data: Envelope['data']; readonly requestId: string | undefined };

/** Reads a response. Throws VideogenError for an error, and for a response that is not the service's. */
export async function readAnswer(response: Response, clock: Clock): Promise<Answer> {
  const envelope = parsed(await textOf(response));
  if (envelope?.code === 200 && response.status === 200)
    return { data: envelope.data, requestId: requestIdOf(response) };
  throw refusalOf(response, envelope, clock);
}

function refusalOf(response: Response, envelope: Envelope | undefined, clock: Clock): VideogenError {
  const details = {
    requestId: requestIdOf(response),
    retryAfterSeconds: secondsOf(response.headers.get('retry-after'), clock),
  };
  if (envelope !== undefined && envelope.code === response.status) {
    const { code, msg, error, data } = envelope;
    // A newer service may return a code that this version does not list; it is still a string.
    const known = typeof error === 'string' ? (error as ErrorCode) : undefined;
    return new VideogenError('refused', msg, { ...details, code, error: known, data });
  }
  // Redirects are not followed, because a POST would become a GET. Browsers report one as status 0.
  const message = `${originOf(response)} answered ${response.status || 'with a redirect'}, but not as Videogen does`;
  return new VideogenError('not_videogen', message, { ...details, code: response.status });
}

function requestIdOf({ headers }: Response): string | undefined {
  return headers.get('x-request-id') ?? undefined;
}

/** Only the origin is shown, because the rest of a result's link is a secret. */
function originOf({ url }: Response): string {
  return URL.canParse(url) ? new URL(url).origin : 'the service';
}

/** `Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3). */
function secondsOf(header: string | null, clock: Clock): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - clock.now()) / 1000));
}

async function textOf({ body }: Response): Promise<string> {
  if (body === null) return '';
  const [reader, decoder] = [body.getReader(), new TextDecoder()];
  let [text, bytes] = ['', 0];
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.byteLength;
    if (bytes > maxAnswerBytes) {
      await reader.cancel();
      throw new VideogenError('not_videogen', `the answer is larger than ${maxAnswerBytes} bytes`);
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isEnvelope(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEnvelope(value: unknown): value is Envelope {
  if (typeof value !== 'object' || value === null || !('code' in value && 'msg' in value && 'data' in value))
    return false;
  const { code, msg, data } = value;
  return typeof code === 'number' && typeof msg === 'string' && typeof data === 'object' && data !== null;
}
