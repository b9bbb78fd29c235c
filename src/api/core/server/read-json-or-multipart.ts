import { randomUUID } from 'node:crypto';
import { isObject } from '../../../platform/text/json.ts';
import { maxFieldErrors } from '../../../platform/text/field-errors.ts';
import { isStorableText, notStorableTextMessage } from '../../../catalogue/input/url-schema-and-text-checks.ts';
import type { Context } from '../request-context-and-responses.ts';
import { HttpError, invalidRequest } from '../http-error.ts';
import { requireTypeAndGetSize, readBodyBytes, readJson, refuseProtoField } from './read-or-save-body-within-limits.ts';

/** Room for one image of the largest size as a data URL, and for the rest of the request. */
export const maxInlineBytes = 16 * 1024 * 1024;

const types = ['multipart/form-data', 'application/json'];

/** Returns the bytes that the body may have, which an upload slot reserves. */
export function requireJsonOrFormSize(ctx: Context): number {
  return requireTypeAndGetSize(ctx, { types, maxBytes: maxInlineBytes });
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads a body as JSON, or as a form, whose files become `File`s and whose names may have brackets: `reference[image_url]` is a field of
 * an object, and `images[]` or a repeated name is a list.
 */
export async function readJsonOrForm(ctx: Context): Promise<Fields> {
  if (!ctx.get('Content-Type').toLowerCase().startsWith('multipart/form-data')) return readJson(ctx, maxInlineBytes);
  const { body, contentType } = withOwnBoundary(await readBodyBytes(ctx.req, maxInlineBytes), ctx.get('Content-Type'));
  const form = await new Response(body, { headers: { 'content-type': contentType } })
    .formData()
    .catch((cause: unknown) => {
      throw new HttpError('malformed_form', { cause });
    });
  return fieldsOf([...form.entries()]);
}

/** More than any API has. A form of 200,000 small fields takes a second of the process to parse. */
const maxFormFields = 200;

/**
 * Replaces the boundary by a long random one, without parsing what is between. The parser searches files for the boundary without the line
 * break and the dashes before it, and a short boundary such as `B` is part of almost every file.
 */
function withOwnBoundary(body: Buffer, contentType: string) {
  const boundary = Buffer.from(`--${requireFormBoundary(contentType)}`);
  const own = `form-${randomUUID()}`;
  const parts: Uint8Array[] = [];
  let start = 0;
  for (let at = body.indexOf(boundary); at !== -1; at = body.indexOf(boundary, at + boundary.length)) {
    if (!isFormDelimiter(body, at, at + boundary.length)) continue;
    // The last boundary ends the form.
    if (parts.length > 2 * maxFormFields + 1) {
      throw invalidRequest([{ path: '', message: `the form must have at most ${maxFormFields} fields` }]);
    }
    parts.push(body.subarray(start, at), Buffer.from(`--${own}`));
    start = at + boundary.length;
  }
  parts.push(body.subarray(start));
  return { body: Buffer.concat(parts), contentType: `multipart/form-data; boundary=${own}` };
}

/** A boundary is a line of its own, and the last one has two more dashes. */
export function isFormDelimiter(body: Buffer, start: number, end: number): boolean {
  const isLineStart = start === 0 || body.toString('latin1', start - 2, start) === '\r\n';
  return isLineStart && /^(?:--|[ \t]*\r\n)/.test(body.toString('latin1', end, end + maxPadding));
}

/** White space that may follow a boundary. */
const maxPadding = 64;

/**
 * Returns the boundary, which has the characters of RFC 2046. Of two boundaries, or an escaped one, a parser in front might use another one.
 */
export function requireFormBoundary(contentType: string): string {
  const [first, ...others] = contentType.matchAll(/;\s*boundary=(?:"([\w'()+,./:=? -]+)"|([\w'()+,./:=?-]+))?/gi);
  const boundary = first?.[1] ?? first?.[2];
  if (boundary === undefined || others.length > 0) throw new HttpError('malformed_form');
  return boundary;
}

function fieldsOf(entries: readonly (readonly [name: string, value: unknown])[]): Fields {
  const unfit = entries.filter(
    ([name, value]) => !isStorableText(name) || (typeof value === 'string' && !isStorableText(value)),
  );
  if (unfit.length > 0)
    throw invalidRequest(
      unfit.slice(0, maxFieldErrors).map(([name]) => ({ path: name.slice(0, 64), message: notStorableTextMessage })),
    );
  // Without a prototype, `__proto__` is a name like any other.
  const fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of entries) {
    const [, outer = name, inner = ''] = /^([^[\]]+)\[([^[\]]*)\]$/.exec(name) ?? [];
    const isList = inner === '' && outer !== name;
    if (isList) fields[outer] = [...listOf(fields[outer]), value];
    else if (inner !== '') fields[outer] = { ...(isObject(fields[outer]) ? fields[outer] : {}), [inner]: value };
    else fields[outer] = fields[outer] === undefined ? value : [...listOf(fields[outer]), value];
  }
  refuseProtoField(fields);
  return fields;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}
