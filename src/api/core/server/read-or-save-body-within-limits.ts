import { type JSONPath, type JSONVisitor, visit } from 'jsonc-parser';
import { open as openFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import { isObject } from '../../../platform/text/json.ts';
import { fieldPath } from '../../../platform/text/field-errors.ts';
import { isStorableText, notStorableTextMessage } from '../../../catalogue/input/url-schema-and-text-checks.ts';
import type { Context } from '../request-context-and-responses.ts';
import { HttpError, invalidRequest } from '../http-error.ts';
import { maxJsonBodyBytes } from '../request-sizes.ts';

export async function readJson(ctx: Context, maxBytes = maxJsonBodyBytes): Promise<Readonly<Record<string, unknown>>> {
  requireUnpacked(ctx);
  if (!isJsonType(ctx.get('Content-Type'))) throw new HttpError('unsupported_media_type');
  const body = await readBodyBytes(ctx.req, maxBytes);
  const text = orInvalid(() => utf8.decode(body));
  if (text.trim() === '') throw new HttpError('invalid_json', { msg: 'the body is empty; send a JSON object' });
  refuseUnsafeJson(text);
  const value = orInvalid((): unknown => JSON.parse(text));
  if (!isObject(value)) throw new HttpError('body_not_object');
  refuseProtoField(value);
  return value;
}

/** The schemas skip a field of this name, which no API has. */
export function refuseProtoField(fields: object): void {
  if (Object.hasOwn(fields, '__proto__')) throw invalidRequest([{ path: '__proto__', message: 'unknown field' }]);
}

/** Returns the bytes that a body may have: those that it announces, or all that are allowed. Refuses other types and larger bodies. */
export function requireTypeAndGetSize(
  ctx: Context,
  { types, maxBytes }: { readonly types: readonly string[]; readonly maxBytes: number },
): number {
  requireUnpacked(ctx);
  const [type = ''] = ctx.get('Content-Type').toLowerCase().split(';');
  if (!types.includes(type.trim())) {
    const msg = `the body must be sent as Content-Type: ${types.join(', or ')}`;
    throw new HttpError('unsupported_media_type', { msg, headers: { 'Accept-Post': types.join(', ') } });
  }
  return requireSizeWithinLimit(ctx, maxBytes);
}

/** As `requireTypeAndGetSize`, but of a body of any type: its content decides what it is. */
export function requireSizeWithinLimit(ctx: Context, maxBytes: number): number {
  requireUnpacked(ctx);
  const bytes = Number(ctx.get('Content-Length') || maxBytes);
  if (bytes > maxBytes) throw tooLarge(maxBytes);
  return bytes;
}

/** The limit of a body by its first bytes, below which no file is refused. */
export type LimitByFirstBytes = {
  readonly minBytes: number;
  readonly startBytes: number;
  readonly limitOf: (start: Buffer) => number;
};

/** Writes the body to a new file, chunk by chunk. */
export async function saveBodyToFile(
  ctx: Context,
  path: string,
  maxBytes: number,
  limit?: LimitByFirstBytes,
): Promise<void> {
  await using file = await openFile(path, 'wx');
  let [start, bytes] = [Buffer.alloc(0), 0];
  await receiveBody(ctx.req, maxBytes, async (chunk) => {
    bytes += chunk.length;
    if (limit !== undefined) {
      if (start.length < limit.startBytes) start = Buffer.concat([start, chunk]).subarray(0, limit.startBytes);
      const allowed = bytes > limit.minBytes ? limit.limitOf(start) : bytes;
      if (bytes > allowed) throw tooLarge(allowed);
    }
    await file.appendFile(chunk);
  });
}

/** A compressed body could hide any size. */
function requireUnpacked(ctx: Context): void {
  const encoding = ctx.get('Content-Encoding').trim().toLowerCase();
  if (encoding !== '' && encoding !== 'identity') throw new HttpError('unsupported_encoding');
}

function isJsonType(header: string): boolean {
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  return type === 'application/json' && (charset === undefined || /^charset="?utf-?8"?$/.test(charset));
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError('body_too_large', { msg: `the body is larger than ${maxBytes / 1024} KiB` });
}

export async function readBodyBytes(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await receiveBody(req, maxBytes, (chunk) => void chunks.push(chunk));
  return Buffer.concat(chunks);
}

/** Reads the body. The next chunk is read once `take` has processed the last one, so that a fast client cannot fill the memory. */
async function receiveBody(
  req: IncomingMessage,
  maxBytes: number,
  take: (chunk: Buffer) => Promise<void> | void,
): Promise<void> {
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  let bytes = 0;
  let isStopped = false;
  let taken = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) return stop(tooLarge(maxBytes));
      const taking = take(chunk);
      if (taking === undefined) return;
      req.pause();
      taken = taking.then(
        () => void (isStopped || req.resume()),
        (error: unknown) => stop(error),
      );
    };
    const stop = (error?: unknown) => {
      isStopped = true;
      req.off('data', onData).pause();
      forget();
      if (error === undefined) resolve();
      else reject(error);
    };
    // The last chunk may be refused, or not fit on the disk.
    const stopAfterLast = async () => {
      await taken;
      stop();
    };
    // Also settles if the request was destroyed before it was read.
    const forget = finished(req, { writable: false }, (error) => {
      if (error) stop(new HttpError('body_unreadable'));
      else void stopAfterLast();
    });
    req.on('data', onData);
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The parser's message quotes the body, which must not reach the response or the log. */
function orInvalid<T>(parse: () => T): T {
  try {
    return parse();
  } catch {
    throw new HttpError('invalid_json');
  }
}

/** More than any request has. Millions of values fit into a body with files, and would keep the process busy for seconds. */
const maxJsonValues = 10_000;

export const maxJsonDepth = 32;

/**
 * Refuses JSON with more values or levels than allowed, with control characters in texts, or with duplicate keys, of which another parser
 * may use the first. Runs before `JSON.parse`, which millions of open brackets would make use a gigabyte. Throws from the callbacks,
 * because the visitor cannot be stopped otherwise.
 */
export function refuseUnsafeJson(text: string): void {
  /** The keys of each enclosing object or array. */
  const keys: Set<string>[] = [];
  let values = 1;
  const open = () => {
    keys.push(new Set());
    if (keys.length > maxJsonDepth)
      throw invalidRequest([{ path: '', message: `the body is nested deeper than ${maxJsonDepth} levels` }]);
  };
  const close = () => void keys.pop();
  const requirePlainText = (value: unknown, path: () => JSONPath) => {
    if (typeof value !== 'string' || isStorableText(value)) return;
    throw invalidRequest([{ path: fieldPath(path()), message: notStorableTextMessage }]);
  };
  const visitor: JSONVisitor = {
    onObjectBegin: open,
    onArrayBegin: open,
    onObjectEnd: close,
    onArrayEnd: close,
    onObjectProperty: (key, _offset, _length, _line, _column, pathOfObject) => {
      const path = () => [...pathOfObject(), key];
      requirePlainText(key, path);
      const known = keys.at(-1);
      if (known?.has(key) === true) {
        throw new HttpError('duplicate_json_key', { msg: `the key ${fieldPath(path())} is given twice; give it once` });
      }
      known?.add(key);
    },
    onLiteralValue: (value, _offset, _length, _line, _column, path) => requirePlainText(value, path),
    onSeparator: (character) => {
      if (character === ',') values += 1;
      if (values > maxJsonValues)
        throw invalidRequest([{ path: '', message: `the body must have at most ${maxJsonValues} values` }]);
    },
    onError: () => {
      throw new HttpError('invalid_json');
    },
  };
  visit(text, visitor, { disallowComments: true });
}
