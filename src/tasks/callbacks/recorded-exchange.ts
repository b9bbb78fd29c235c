/** The request of an attempt and the headers of its response. The first bytes of the response's body are stored beside them. */
export type RecordedExchange = {
  /** The values of signatures are hidden. */
  readonly requestHeaders: Headers;
  /** The first `maxRecordedBodyChars` of the body. */
  readonly requestBody: string;
  readonly isBodyCut: boolean;
  /** Undefined without a response. */
  readonly response?: {
    readonly headers: Headers;
    /** True if any client can reach the receiver. Otherwise only operators read its response. */
    readonly isPublic: boolean;
  };
};

type Headers = readonly (readonly [name: string, value: string])[];

type Sent = { readonly headers: Readonly<Record<string, string>>; readonly body: string };
type Answer = {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly isPublic: boolean;
};

export const maxRecordedBodyChars = 8_192;
/** Bounds the sum of all names and values of a response. */
const maxHeaderChars = 1_024;

/** Only these headers contain nothing that is derived from a secret. */
const openHeaders: readonly string[] = ['content-type', 'webhook-id', 'webhook-timestamp', 'x-webhook-timestamp'];
export const hiddenValue = '(hidden)';

/** Cookies are the receiver's own secrets. */
const secretHeaders: readonly string[] = ['set-cookie', 'authorization', 'proxy-authenticate', 'www-authenticate'];

export function exchangeOf({ headers, body }: Sent, answer?: Answer): RecordedExchange {
  const requestHeaders = Object.entries(headers).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    openHeaders.includes(name.toLowerCase()) ? value : hiddenValue,
  ]);
  return {
    requestHeaders,
    requestBody: storable(body.slice(0, maxRecordedBodyChars)),
    isBodyCut: body.length > maxRecordedBodyChars,
    ...(answer !== undefined && { response: { headers: firstHeaders(answer.headers), isPublic: answer.isPublic } }),
  };
}

function firstHeaders(headers: Answer['headers']): Headers {
  const first: [string, string][] = [];
  let chars = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const shown = secretHeaders.includes(name) ? hiddenValue : storable([value].flat().join(', '));
    chars += name.length + shown.length;
    if (chars > maxHeaderChars) break;
    first.push([name, shown]);
  }
  return first;
}

/** PostgreSQL stores neither NUL characters nor unpaired surrogates. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u{fffd}');
}
