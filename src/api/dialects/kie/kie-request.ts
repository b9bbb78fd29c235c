import { isObject } from '../../../platform/text/json.ts';
import { type FieldError, maxFieldErrors } from '../../../platform/text/field-errors.ts';
import {
  type ModelsByName,
  modelNameFromAlias,
  modelNamesAndAliases,
} from '../../../catalogue/models/model-type-and-name-lookup.ts';
import { unknownModelMessage } from '../../../catalogue/input/spelling-suggestions.ts';
import {
  fieldsOfModel,
  inputFieldNames,
  type ModelInput,
  standardModelInput,
} from '../../../catalogue/input/task-input.ts';
import { inputFields } from '../../../catalogue/input/input-fields.ts';
import type { RequestTranslation } from '../../../tasks/accept/parse-task-request.ts';

/** A hint for clients that use the dialect with a native key. */
export const howToGetKieKey =
  'create a kie key with POST /api/v1/keys {"name": "…", "dialect": "kie"}, or have an operator create one ' +
  'with videogen key create --dialect kie';

type JsonObject = Readonly<Record<string, unknown>>;

type Spelling = readonly [ours: string, theirs: string];

/** Fields of `input`: native name and kie name. All others are ignored, also those that only other models take. */
function fieldsOf(input: ModelInput | undefined): readonly Spelling[] {
  const names = input === undefined ? standardNames : fieldsOfModel(input);
  return names.map((ours) => [ours, inputFields[ours].kie]);
}

const standardNames = fieldsOfModel(standardModelInput);

const useReferences = 'not supported; leave this field out, or use reference_image_urls';
const leaveOut = 'not supported; leave this field out';
const leaveOff = 'not supported; leave this field out, or give false';

/** Unsupported features. Ignoring them would sell another video than the requested one. */
const beyondUs: Readonly<Record<string, string>> = {
  first_frame_url: `a first frame is ${useReferences}`,
  last_frame_url: `a last frame is ${useReferences}`,
  image_url: `a first frame is ${useReferences}`,
  image_urls: `first and last frames are ${useReferences}`,
  input_urls: `first and last frames are ${useReferences}`,
  end_image_url: `a last frame is ${useReferences}`,
  reference_video_urls: `reference video is ${leaveOut}`,
  reference_audio_urls: `reference audio is ${leaveOut}`,
  videoUrls: `reference video is ${leaveOut}`,
  extension_task_id: `continuing another video is ${leaveOut}`,
};

/** Unsupported features that `true` enables. The last frame is no feature of a request for models whose every answer has it. */
const switchesBeyondUs: Readonly<Record<string, string>> = {
  return_last_frame: `the last frame as a second result is ${leaveOff}`,
  web_search: `a search of the web is ${leaveOff}`,
  camera_fixed: `a fixed camera is ${leaveOff}, and say it in the prompt`,
  fixed_lens: `a fixed camera is ${leaveOff}, and say it in the prompt`,
};

/** Accepts the native spelling of a field if the kie spelling is missing. */
export function translateKieRequest(body: JsonObject, models: ModelsByName): RequestTranslation {
  const { input, model: named } = body;
  const model = typeof named === 'string' ? modelNameFromAlias(models, named) : named;
  const fields = fieldsOf(typeof model === 'string' ? models.get(model)?.input : undefined);
  const hasLastFrame = typeof model === 'string' && models.get(model)?.lastFrame === true;
  const refused = isObject(input) ? refusals(input, fields, hasLastFrame) : [];
  const respelled = (error: FieldError) => theirError(error, isObject(input) ? input : {}, { fields, models, named });
  return {
    ours: {
      model,
      input: isObject(input) ? ourInput(input, fields) : input,
      callBackUrl: isMissing(body['callBackUrl']) ? undefined : body['callBackUrl'],
    },
    added: typeof named === 'string' ? { requestedModel: named } : {},
    theirErrors: (errors) => [...errors.map(respelled), ...refused].slice(0, maxFieldErrors),
  };
}

const bodyNames = ['model', 'input', 'callBackUrl'];

export function findUnusedKieFields({ model, input, ...others }: JsonObject, models: ModelsByName): readonly string[] {
  const fields = fieldsOf(typeof model === 'string' ? models.get(modelNameFromAlias(models, model))?.input : undefined);
  const known = [...fields.flat(), ...Object.keys({ ...beyondUs, ...switchesBeyondUs })];
  const isUnused = ([name, value]: readonly [string, unknown]) => !known.includes(name) && !isMissing(value);
  const ofInput = Object.entries(isObject(input) ? input : {}).filter(isUnused);
  const ofBody = Object.entries(others).filter(([name, value]) => !bodyNames.includes(name) && !isMissing(value));
  return [...ofBody.map(([name]) => name), ...ofInput.map(([name]) => `input.${name}`)];
}

// Names in snake case exist only in kie; `videoUrls` is native, too.
const theirFields = [...inputFieldNames.map((name) => inputFields[name].kie), 'nsfw_checker'];
const onlyTheirs = [...theirFields, ...Object.keys({ ...beyondUs, ...switchesBeyondUs })].filter((name) =>
  name.includes('_'),
);

/** A hint for kie requests with a native key. */
export function hintIfKieRequest({ model, input }: JsonObject, models: ModelsByName): string | undefined {
  const isUnknown = typeof model === 'string' && !models.has(model);
  const isTheirs = isUnknown && (model.startsWith('bytedance/') || modelNameFromAlias(models, model) !== model);
  const hasTheirs = isObject(input) && Object.keys(input).some((name) => onlyTheirs.includes(name));
  return isTheirs || hasTheirs
    ? `this is a request in the dialect kie, but the API key is native; ${howToGetKieKey}`
    : undefined;
}

function ourInput(input: JsonObject, fields: readonly Spelling[]): JsonObject {
  return Object.fromEntries(
    fields.map(([ours, theirs]) => [ours, ourValue(ours, isMissing(input[theirs]) ? input[ours] : input[theirs])]),
  );
}

/** kie.ai's forms send empty strings for unused fields, and seconds as text. */
function ourValue(name: string, value: unknown): unknown {
  if (value === '' && name !== 'prompt') return undefined;
  const isNumber = name === 'duration' && typeof value === 'string' && /^\d{1,4}(\.\d{1,9})?$/.test(value);
  return isNumber ? Number(value) : value;
}

/** Refuses features that this service does not support. Empty values are ignored, because kie.ai's clients send them for unused fields. */
function refusals(input: JsonObject, fields: readonly Spelling[], hasLastFrame: boolean): readonly FieldError[] {
  const isNothing = (value: unknown) => isMissing(value) || (Array.isArray(value) && value.length === 0);
  const isTaken = (name: string) => fields.some((spellings) => spellings.includes(name));
  const used = Object.entries(beyondUs).filter(([name]) => !isNothing(input[name]) && !isTaken(name));
  const isOn = (name: string) => !isNothing(input[name]) && input[name] !== false;
  const on = Object.entries(switchesBeyondUs).filter(
    ([name]) => isOn(name) && !(hasLastFrame && name === 'return_last_frame'),
  );
  return [...used, ...on].map(([name, message]) => ({ path: `input.${name}`, message }));
}

type Named = { readonly fields: readonly Spelling[]; readonly models: ModelsByName; readonly named: unknown };

function theirError({ path, message }: FieldError, input: JsonObject, { fields, models, named }: Named): FieldError {
  if (path === 'model')
    return named === undefined
      ? { path, message }
      : { path, message: unknownModelMessage(named, modelNamesAndAliases(models)) };
  const [, ours, rest = ''] = /^input\.(\w+)(.*)$/.exec(path) ?? [];
  const spelling = fields.find(([name]) => name === ours);
  if (spelling === undefined) return { path, message };
  const [name, theirs] = spelling;
  const isOurs = isMissing(input[theirs]) && !isMissing(input[name]);
  return { path: `input.${isOurs ? name : theirs}${rest}`, message };
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
