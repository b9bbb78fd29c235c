import { HttpFailure } from './http-failure.ts';
import { readBody } from './read-body.ts';
import type { Context } from './request-state.ts';

/** Reads the body, which must be a JSON object in UTF-8, sent as such. */
export async function readJson(ctx: Context): Promise<Readonly<Record<string, unknown>>> {
  requireJsonType(ctx);
  return parseObject(await readBody(ctx.req));
}

/** Nothing is unpacked: a body of 256 KiB needs no compression, and a packed one could hide any size. */
function requireJsonType(ctx: Context): void {
  const encoding = ctx.get('Content-Encoding').trim().toLowerCase();
  if (encoding !== '' && encoding !== 'identity') throw new HttpFailure('unsupported_encoding');
  if (!isJsonType(ctx.get('Content-Type'))) throw new HttpFailure('unsupported_media_type');
}

/** `application/json` in any case; of the parameters only another charset than UTF-8 counts. */
function isJsonType(header: string): boolean {
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  return type === 'application/json' && (charset === undefined || /^charset="?utf-?8"?$/.test(charset));
}

function parseObject(body: Buffer): Readonly<Record<string, unknown>> {
  const value = parseJson(body);
  if (!isObject(value)) throw new HttpFailure('body_not_object');
  return value;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    // The parser's own words quote the body, which belongs neither into the answer nor into the log.
    throw new HttpFailure('invalid_json');
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
