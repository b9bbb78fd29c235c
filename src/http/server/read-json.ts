import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { notPlainText } from '../../domain/task-input.ts';
import type { Context } from '../context.ts';
import { HttpError, invalidRequest, maxBodyBytes } from '../errors.ts';
import { findJsonFault, type JsonFault, maxJsonDepth } from './json-faults.ts';

/** Reads the body, which must be a JSON object in UTF-8, sent as such. */
export async function readJson(ctx: Context): Promise<Readonly<Record<string, unknown>>> {
  requireJsonType(ctx);
  return parseObject(await readBody(ctx.req));
}

/** Nothing is unpacked: a body of this size needs no compression, and a packed one could hide any size. */
function requireJsonType(ctx: Context): void {
  const encoding = ctx.get('Content-Encoding').trim().toLowerCase();
  if (encoding !== '' && encoding !== 'identity') throw new HttpError('unsupported_encoding');
  if (!isJsonType(ctx.get('Content-Type'))) throw new HttpError('unsupported_media_type');
}

/** `application/json` in any case; of the parameters only another charset than UTF-8 counts. */
function isJsonType(header: string): boolean {
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  return type === 'application/json' && (charset === undefined || /^charset="?utf-?8"?$/.test(charset));
}

function parseObject(body: Buffer): Readonly<Record<string, unknown>> {
  const text = orInvalid(() => utf8.decode(body));
  if (text.trim() === '') throw new HttpError('invalid_json', { msg: 'the body is empty; it must be a JSON object' });
  const value = orInvalid((): unknown => JSON.parse(text));
  if (!isObject(value)) throw new HttpError('body_not_object');
  const fault = findJsonFault(text);
  if (fault !== undefined) throw failureOfJson(fault);
  return value;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The parser's own words quote the body, which belongs neither into the answer nor into the log. */
function orInvalid<T>(parse: () => T): T {
  try {
    return parse();
  } catch {
    throw new HttpError('invalid_json');
  }
}

function failureOfJson(fault: JsonFault): HttpError {
  if (fault.kind === 'repeated_key') {
    return new HttpError('duplicate_json_key', { msg: `the key ${fault.path} is given twice; give it once` });
  }
  const { path, message } =
    fault.kind === 'too_deep'
      ? { path: '', message: `the body must not be nested deeper than ${maxJsonDepth} levels` }
      : { path: fault.path, message: notPlainText };
  return invalidRequest([{ path, message }]);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a request's body, at most `maxBodyBytes` of it; how long it may take is the server's request timeout. */
async function readBody(req: IncomingMessage): Promise<Buffer> {
  try {
    return await getRawBody(req, { limit: maxBodyBytes, length: req.headers['content-length'] ?? null });
  } catch (error) {
    throw bodyFailure(error);
  }
}

/** The client went away, before or while we read, or sent another length than it had said. */
const brokenOff: readonly string[] = ['request.aborted', 'request.size.invalid', 'stream.not.readable'];

function bodyFailure(error: unknown): unknown {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return new HttpError('body_too_large');
  if (typeof type === 'string' && brokenOff.includes(type)) return new HttpError('body_unreadable');
  return error;
}
