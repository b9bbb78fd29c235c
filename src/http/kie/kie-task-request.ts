import { type FieldError, maxFieldErrors } from '../../domain/field-errors.ts';
import { inputFieldNames, inputFields } from '../../domain/task-input.ts';
import type { ParsedTaskRequest } from '../../domain/task-request.ts';
import { ourModel, theirModel } from './kie-models.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Each field of `input`: our name, and theirs. Everything else that a client sends is an extra, and ignored. */
const fields = inputFieldNames.map((ours) => [ours, inputFields[ours].kie] as const);

/** What their models can do and ours cannot. Ignoring it would sell another video than the one that was asked for. */
const beyondUs: Readonly<Record<string, string>> = {
  first_frame_url: 'a first frame is not supported; leave this field out, or use reference_image_urls',
  last_frame_url: 'a last frame is not supported; leave this field out, or use reference_image_urls',
  reference_video_urls: 'reference video is not supported; leave this field out',
  reference_audio_urls: 'reference audio is not supported; leave this field out',
  videoUrls: 'reference video is not supported; leave this field out',
};

/**
 * Validates a create request in the dialect by our own rules. Fields are understood in their spelling and, where that
 * is missing, in ours; an error names the field as the client wrote it.
 */
export function parseKieTaskRequest(body: JsonObject, parse: (body: unknown) => ParsedTaskRequest): ParsedTaskRequest {
  const { input } = body;
  const refused = isObject(input) ? refusals(input) : [];
  const parsed = parse({
    model: typeof body['model'] === 'string' ? ourModel(body['model']) : body['model'],
    input: isObject(input) ? ourInput(input) : input,
    callBackUrl: body['callBackUrl'],
  });
  if (parsed.ok) return refused.length === 0 ? parsed : { ok: false, errors: refused };
  const errors = parsed.errors.map((error) => theirError(error, isObject(input) ? input : {}));
  return { ok: false, errors: [...errors, ...refused].slice(0, maxFieldErrors) };
}

function ourInput(input: JsonObject): JsonObject {
  return Object.fromEntries(fields.map(([ours, theirs]) => [ours, input[theirs] ?? input[ours]]));
}

/** Their clients fill unused fields with nothing of the right type. */
function refusals(input: JsonObject): readonly FieldError[] {
  return Object.entries(beyondUs)
    .filter(([name]) => !isNothing(input[name]))
    .map(([name, message]) => ({ path: `input.${name}`, message }));
}

function isNothing(value: unknown): boolean {
  return isMissing(value) || value === '' || (Array.isArray(value) && value.length === 0);
}

function theirError({ path, message }: FieldError, input: JsonObject): FieldError {
  if (path === 'model') return { path, message: message.replaceAll(/[\w./-]+/g, theirModel) };
  const [, ours, rest = ''] = /^input\.(\w+)(.*)$/.exec(path) ?? [];
  const spelling = fields.find(([name]) => name === ours);
  if (spelling === undefined) return { path, message };
  const [name, theirs] = spelling;
  const isOurs = isMissing(input[theirs]) && !isMissing(input[name]);
  return { path: `input.${isOurs ? name : theirs}${rest}`, message };
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
