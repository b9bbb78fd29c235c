import { type IncomingHttpHeaders, request } from 'node:http';
import assert from 'node:assert/strict';
import { errorCatalogue } from '../../../src/api/core/error-catalogue.ts';

/** A response as it came over the socket. `json` is its envelope; reading it fails for another body. */
export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly json: Envelope;
};

export type Envelope = { code: number; msg: string; error?: string; data: Record<string, unknown> };

export type SendOptions = {
  headers?: Readonly<Record<string, string | string[]>>;
  body?: string | Buffer;
  chunked?: boolean;
};
export type Send = (method: string, path: string, options?: SendOptions) => Promise<Answer>;

/** A client that sends paths as they are given: fetch would tidy up `..` and escapes. A connection per request. */
export function createHttpClient(url: string): Send {
  return (method, path, { headers = {}, body, chunked = false } = {}) =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url);
      const length = body === undefined || chunked ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const req = request({ hostname, port, method, path, agent: false, headers: { ...length, ...headers } }, (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('error', reject);
        res.on('end', () => resolve(answerOf(res.statusCode ?? 0, res.headers, Buffer.concat(chunks))));
      });
      req.on('error', reject);
      req.end(body);
    });
}

export function answerOf(status: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
  return {
    status,
    headers,
    bytes,
    get json() {
      assert.equal(headers['content-type'], 'application/json');
      const envelope: unknown = JSON.parse(bytes.toString());
      assert.ok(isEnvelope(envelope), bytes.toString());
      assert.equal(envelope.code, status, 'code equals the HTTP status');
      return envelope;
    },
  };
}

function isEnvelope(value: unknown): value is Envelope {
  if (typeof value !== 'object' || value === null) return false;
  const isSuccess = 'code' in value && value.code === 200;
  if (Object.keys(value).join() !== (isSuccess ? 'code,msg,data' : 'code,msg,error,data')) return false;
  return 'msg' in value && typeof value.msg === 'string' && 'data' in value && isObject(value.data);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An answer must be the refusal that the catalogue promises, whole: envelope, id, no caching. */
export function assertRefused(answer: Answer, status: number, msg: RegExp, data: unknown = {}): void {
  assert.equal(answer.status, status, answer.bytes.toString().slice(0, 300));
  assert.match(answer.json.msg, msg);
  const [, known] = Object.entries(errorCatalogue).find(([code]) => code === answer.json.error) ?? [];
  assert.equal(known?.status, status, `error is ${answer.json.error}`);
  assert.deepEqual(answer.json.data, data);
  assert.match(String(answer.headers['x-request-id']), /^[0-9a-f-]{36}$/);
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.equal(answer.headers['x-content-type-options'], 'nosniff');
}
