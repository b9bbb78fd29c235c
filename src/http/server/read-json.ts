import { type JSONPath, visit } from 'jsonc-parser';
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import { isObject } from '../../platform/json.ts';
import { fieldPath } from '../../platform/field-errors.ts';
import { isPlainText, notPlainText } from '../../tasks/request-text.ts';
import type { Context } from '../context.ts';
import { HttpError, invalidRequest, maxBodyBytes } from '../errors.ts';

export async function readJson(ctx: Context): Promise<Readonly<Record<string, unknown>>> {
  requireUnpacked(ctx);
  if (!isJsonType(ctx.get('Content-Type'))) throw new HttpError('unsupported_media_type');
  const body = await readBody(ctx.req);
  const text = orInvalid(() => utf8.decode(body));
  if (text.trim() === '') throw new HttpError('invalid_json', { msg: 'the body is empty; send a JSON object' });
  const value = orInvalid((): unknown => JSON.parse(text));
  if (!isObject(value)) throw new HttpError('body_not_object');
  refuseUnsafeJson(text);
  return value;
}

export async function readBytes(
  ctx: Context,
  { types, maxBytes }: { readonly types: readonly string[]; readonly maxBytes: number },
): Promise<Buffer> {
  requireUnpacked(ctx);
  const [type = ''] = ctx.get('Content-Type').toLowerCase().split(';');
  if (!types.includes(type.trim())) {
    const msg = `the body must be sent as Content-Type: ${types.join(', or ')}`;
    throw new HttpError('unsupported_media_type', { msg, headers: { 'Accept-Post': types.join(', ') } });
  }
  return readBody(ctx.req, maxBytes);
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

async function readBody(req: IncomingMessage, maxBytes = maxBodyBytes): Promise<Buffer> {
  const tooLarge = () => new HttpError('body_too_large', { msg: `the body is larger than ${maxBytes / 1024} KiB` });
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else stop(tooLarge());
    };
    const stop = (refusal?: HttpError) => {
      req.off('data', take).pause();
      forget();
      if (refusal === undefined) resolve();
      else reject(refusal);
    };
    // Also settles if the request was destroyed before it was read.
    const forget = finished(req, { writable: false }, (error) => {
      stop(error ? new HttpError('body_unreadable') : undefined);
    });
    req.on('data', take);
  });
  return Buffer.concat(chunks);
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

export const maxJsonDepth = 32;

/**
 * Refuses JSON that `JSON.parse` accepts: too deep, or with duplicate keys, of which another reader may use the first. Throws from the
 * callbacks, because the visitor cannot be stopped otherwise.
 */
export function refuseUnsafeJson(text: string): void {
  /** The keys of each enclosing object or array. */
  const keys: Set<string>[] = [];
  const open = () => {
    if (keys.push(new Set()) <= maxJsonDepth) return;
    throw invalidRequest([{ path: '', message: `the body is nested deeper than ${maxJsonDepth} levels` }]);
  };
  const close = () => void keys.pop();
  const requirePlainText = (value: unknown, path: () => JSONPath) => {
    if (typeof value !== 'string' || isPlainText(value)) return;
    throw invalidRequest([{ path: fieldPath(path()), message: notPlainText }]);
  };
  visit(text, {
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
  });
}
