import { notPlainText } from '../domain/task-input.ts';
import { findJsonFault, type JsonFault, maxJsonDepth } from './json-faults.ts';
import { readBody } from './read-body.ts';
import type { Context } from './request-state.ts';
import { HttpError, invalidRequest } from './errors.ts';

/** Reads the body, which must be a JSON object in UTF-8, sent as such. */
export async function readJson(ctx: Context): Promise<Readonly<Record<string, unknown>>> {
  requireJsonType(ctx);
  return parseObject(await readBody(ctx.req));
}

/** Nothing is unpacked: a body of 256 KiB needs no compression, and a packed one could hide any size. */
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
