import { invalidRequest } from '../http/errors.ts';
import type { FieldError } from '../platform/field-errors.ts';
import { isObject } from '../platform/json.ts';
import { mediaFields, type ModelInput } from '../tasks/task-input.ts';

/** A field of another API's request: our name, the client's, and its value. */
export type GivenField = { readonly ours: string; readonly theirs: string; readonly value: unknown };

type Fields = Readonly<Record<string, unknown>>;

/** Leaves out fields that are ignored or have no value. Forms send an empty text for those. */
export function givenOf(input: Fields, ignored: readonly string[]): Fields {
  const isGiven = ([name, value]: readonly [string, unknown]) =>
    value !== null && (value !== '' || name === 'prompt') && !ignored.includes(name);
  return Object.fromEntries(Object.entries(input).filter(isGiven));
}

/** Our names of the fields that APIs of several models have in common. */
const commonNames = new Map([
  ['aspect_ratio', 'ratio'],
  ['generate_audio', 'generateAudio'],
  ['negative_prompt', 'negativePrompt'],
  ['callback_url', 'callBackUrl'],
]);

const frameFields = new Map<unknown, string>([
  ['first_frame', 'firstFrameUrl'],
  ['last_frame', 'lastFrameUrl'],
]);

const referenceFields = { image_url: 'imageUrls', video_url: 'videoUrls', audio_url: 'audioUrls' };

/**
 * Translates a field that several APIs have: `frame_images` of `{frame_type, image_url}`, `input_references` of addresses or objects with
 * `image_url`, `video_url` or `audio_url`, names in snake case, and our own names.
 */
export function commonFields(theirs: string, value: unknown): readonly GivenField[] {
  if (theirs === 'frame_images') {
    return [value].flat().map((frame) => {
      const type = isObject(frame) ? frame['frame_type'] : undefined;
      // A frame of another type is refused as an unknown field.
      return { ours: frameFields.get(type) ?? theirs, theirs, value: frame };
    });
  }
  if (theirs === 'input_references') {
    return Object.entries(referenceFields).flatMap(([type, ours]) => {
      const ofType = [value].flat().filter((item) => typeOf(item) === type);
      return ofType.length === 0 ? [] : [{ ours, theirs, value: ofType }];
    });
  }
  return [{ ours: commonNames.get(theirs) ?? theirs, theirs, value }];
}

function typeOf(reference: unknown): string {
  const types = isObject(reference) ? Object.keys(referenceFields).filter((name) => name in reference) : [];
  return types[0] ?? 'image_url';
}

/** Two spellings of one field are refused, because only one of them could be followed. */
export function conflictsOf(fields: readonly GivenField[]): readonly FieldError[] {
  const given = new Map<string, string>();
  return fields.flatMap(({ ours, theirs }) => {
    const first = given.get(ours);
    if (first === undefined) {
      given.set(ours, theirs);
      return [];
    }
    const other = first === theirs ? 'its first value' : first;
    return [{ path: theirs, message: `means the same as ${other}; give one of them` }];
  });
}

/** The client's names of our fields, for errors. */
export function namesOf(fields: readonly GivenField[]): Readonly<Record<string, string>> {
  const names = fields.map(({ ours, theirs }) => [ours === 'callBackUrl' ? ours : `input.${ours}`, theirs] as const);
  return Object.fromEntries(names);
}

/**
 * Returns the values by our names. Numbers and booleans that a form has as text
 * are converted.
 */
export function valuesOf(fields: readonly GivenField[], input: ModelInput | undefined): Fields {
  return Object.fromEntries(fields.map((field) => [field.ours, valueOf(field, input)]));
}

function valueOf({ ours, theirs, value }: GivenField, input: ModelInput | undefined): unknown {
  if (ours === 'duration' || ours === 'seed' || ours === 'generateAudio') return fromText(value);
  if (ours === 'options' && isObject(value)) {
    const isText = (name: string) => input?.fields.options?.[name]?.type === 'string';
    const options = Object.entries(value);
    return Object.fromEntries(options.map(([name, option]) => [name, isText(name) ? option : fromText(option)]));
  }
  if (!mediaFields.some(({ name }) => name === ours)) return value;
  const addresses = [value].flat().map((item) => addressIn(item, theirs));
  return ours.endsWith('Urls') || addresses.length > 1 ? addresses : addresses[0];
}

function fromText(value: unknown): unknown {
  if (value === 'true' || value === 'false') return value === 'true';
  return typeof value === 'string' && /^-?\d{1,15}(\.\d{1,9})?$/.test(value) ? Number(value) : value;
}

/** Reads `{image_url}`, also nested as `{image_url: {url}}`. Other values are returned for the parser to refuse. */
function addressIn(value: unknown, path: string): unknown {
  if (!isObject(value) || value instanceof Blob) return value;
  if (typeof value['file_id'] === 'string') {
    const message = 'is not supported; send the file itself, its data URL, or its http or https URL';
    throw invalidRequest([{ path: `${path}[file_id]`, message }]);
  }
  const inner = value['image_url'] ?? value['video_url'] ?? value['audio_url'] ?? value['url'];
  return inner === undefined ? value : addressIn(inner, path);
}
