import type { FieldError } from '../../platform/text/field-errors.ts';
import { isObject } from '../../platform/text/json.ts';

// Frames and references as clients of other APIs write them: an address, a file of a form, or an object with an address.

/** A field of another API's request: our name, the client's path of it, and its value. */
export type GivenField = {
  readonly ours: string;
  readonly theirs: string;
  readonly value: unknown;
  /** The client's paths of the items of a list. */
  readonly items?: readonly string[];
};

/** The fields of ours that lists of frames and references fill. */
export type FieldFromMediaList =
  | (typeof fieldByFrameType)[keyof typeof fieldByFrameType]
  | (typeof referenceFields)[MediaType];

export type FieldsWithErrors = { readonly fields: readonly GivenField[]; readonly errors: readonly FieldError[] };

const referenceFields = { image_url: 'imageUrls', video_url: 'videoUrls', audio_url: 'audioUrls' } as const;
type MediaType = keyof typeof referenceFields;
const mediaTypes = Object.keys(referenceFields) as readonly MediaType[];

export const fieldByFrameType = { first_frame: 'firstFrameUrl', last_frame: 'lastFrameUrl' } as const;
export const frameTypes = Object.keys(fieldByFrameType) as readonly (keyof typeof fieldByFrameType)[];

const frameForm = '{"frame_type": "first_frame", "image_url": {"url": "https://…"}}';
const referenceForm = '{"type": "image_url", "image_url": {"url": "https://…"}}';

/** The value of an address, and its path below that of the object. Undefined for an object without one. */
type Found = { readonly type: MediaType; readonly url: unknown; readonly path: string };

/** Reads an address, `{image_url: …}`, `{image_url: {url: …}}` or `{url: …}`. */
export function readReference(value: unknown, type?: string): Found | undefined {
  const named = mediaTypes.find((one) => one === type || one === `${type}_url` || `input_${one}` === `${type}_url`);
  if (typeof value === 'string' || value instanceof Blob) return { type: named ?? 'image_url', url: value, path: '' };
  if (!isObject(value)) return undefined;
  const key = mediaTypes.find((one) => value[one] !== undefined && value[one] !== null);
  const outer = key ?? (value['url'] === undefined ? undefined : 'url');
  if (outer === undefined) return undefined;
  const inner = value[outer];
  const found = { type: key ?? named ?? ('image_url' as const), path: `.${outer}` };
  return isObject(inner) && !(inner instanceof Blob) && inner['url'] !== undefined
    ? { ...found, url: inner['url'], path: `.${outer}.url` }
    : { ...found, url: inner };
}

/** One image without a `frame_type` is the first frame, or the one that is not named; several need one each. */
export function readFrames(theirs: string, value: unknown): FieldsWithErrors {
  const frames = listOf(value);
  const named = frames.map((frame) => (isObject(frame) ? frame['frame_type'] : undefined));
  const isOnly = named.filter((type) => type === undefined || type === null).length === 1;
  const unnamed = isOnly ? frameTypes.find((type) => !named.includes(type)) : undefined;
  const fields: GivenField[] = [];
  const errors: FieldError[] = [];
  for (const [index, frame] of frames.entries()) {
    const path = `${theirs}[${index}]`;
    const type = named[index] ?? undefined;
    const known = type === undefined ? unnamed : frameTypes.find((one) => one === type);
    const found = readReference(frame);
    if (found === undefined) errors.push({ path, message: `must be like ${frameForm}` });
    else if (found.type !== 'image_url') errors.push({ path: path + found.path, message: 'must be an image' });
    else if (known) fields.push({ ours: fieldByFrameType[known], theirs: path + found.path, value: found.url });
    else if (type === undefined) errors.push({ path, message: `must name the frame: ${frameForm}` });
    else errors.push({ path: `${path}.frame_type`, message: `must be one of ${frameTypes.join(', ')}` });
    errors.push(...unknownKeys(frame, path));
  }
  return { fields, errors };
}

/** An item without a type is an image. */
export function readReferences(theirs: string, value: unknown): FieldsWithErrors {
  const errors: FieldError[] = [];
  const found = listOf(value).flatMap((item, index) => {
    const path = `${theirs}[${index}]`;
    const type = isObject(item) ? item['type'] : undefined;
    const one = readReference(item, typeof type === 'string' ? type : undefined);
    if (one === undefined) errors.push({ path, message: `must be a URL, or like ${referenceForm}` });
    errors.push(...unknownKeys(item, path));
    return one === undefined ? [] : { ...one, path: path + one.path };
  });
  const fields = mediaTypes.flatMap((type): readonly GivenField[] => {
    const ofType = found.filter((one) => one.type === type);
    if (ofType.length === 0) return [];
    const [urls, items] = [ofType.map(({ url }) => url), ofType.map(({ path }) => path)];
    return [{ ours: referenceFields[type], theirs, value: urls, items }];
  });
  return { fields, errors };
}

const knownKeys = new Set(['type', 'frame_type', 'role', 'url', ...mediaTypes]);

/** Some clients send `detail: auto`, which changes nothing. */
function unknownKeys(item: unknown, path: string): readonly FieldError[] {
  if (!isObject(item) || item instanceof Blob) return [];
  const unknown = Object.entries(item).filter(
    ([key, value]) => !knownKeys.has(key) && value !== null && !(key === 'detail' && value === 'auto'),
  );
  return unknown.map(([key]) => ({ path: `${path}.${key}`, message: 'unknown field' }));
}

function listOf(value: unknown): readonly unknown[] {
  return [value].flat().filter((item) => item !== undefined && item !== null);
}

/** The client's paths of our fields, for errors. */
export function clientPathsOf(fields: readonly GivenField[]): Readonly<Record<string, string>> {
  const paths = fields.flatMap(({ ours, theirs, items = [] }) => {
    const field = ours === 'callBackUrl' ? ours : `input.${ours}`;
    return [[field, theirs] as const, ...items.map((path, index) => [`${field}[${index}]`, path] as const)];
  });
  return Object.fromEntries(paths);
}
