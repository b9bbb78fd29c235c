import { z } from 'zod';
import { didYouMean } from '../../platform/text/did-you-mean.ts';
import { type FieldError, fieldPath, firstOfEachPath, maxFieldErrors } from '../../platform/text/field-errors.ts';
import { requestMessage } from '../../platform/text/validation-messages.ts';
import type { ModelCatalogue, Offer } from '../../catalogue/models/model.ts';
import {
  defaultOf,
  type FieldName,
  fieldSchema,
  fieldsOfModel,
  inputFieldNames,
  isPresent,
  mediaUrlsOf,
  type ModelInput,
  requiredBy,
  withDefaults,
} from '../../catalogue/input/task-input.ts';
import { isBlank, type RefuseUrl, required, urlSchema } from '../../catalogue/input/request-text.ts';
import { unknownModelMessage } from '../../catalogue/input/spellings.ts';
import type { TaskParam } from '../../catalogue/tasks/task.ts';

export type TaskRequestRules = {
  readonly offer: Offer;
  /** Returns why reference media may not be fetched from this URL. */
  readonly refuseMediaUrl: RefuseUrl;
  readonly refuseCallbackUrl: RefuseUrl;
  readonly inputErrorsOfModel?: (param: TaskParam) => readonly FieldError[];
};

export type ParsedTaskRequest =
  | { readonly ok: true; readonly param: TaskParam }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

export type RequestRules = {
  readonly parse: (body: unknown) => ParsedTaskRequest;
  readonly models: ModelCatalogue;
};

/**
 * Translates a create request of another API and parses it. Errors name the fields in the client's spelling; `hint` is added to the
 * message of a refusal.
 */
export type TranslateRequest = (
  body: Readonly<Record<string, unknown>>,
  rules: RequestRules,
) => ParsedTaskRequest & { readonly hint?: string | undefined };

/** Reports all errors together, fills in the model's defaults and rounds the duration. */
export function createTaskRequestParser(rules: TaskRequestRules): (body: unknown) => ParsedTaskRequest {
  const { models } = rules.offer;
  const schemas = new Map([...models].map(([name, { input }]) => [name, bodySchema(rules, name, input)] as const));
  const otherwise = bodySchema(rules, 'this model', commonInput(rules.offer));
  return (body) => {
    const { data: named } = namesModel.safeParse(body);
    const model = named && models.get(named.model);
    const parsed = ((named && schemas.get(named.model)) ?? otherwise).safeParse(body, { error: requestMessage });
    if (!parsed.success) {
      const errors = parsed.error.issues.flatMap((issue) =>
        fieldErrors(issue, model?.input ?? commonInput(rules.offer)),
      );
      return { ok: false, errors: firstOfEachPath(errors).slice(0, maxFieldErrors) };
    }
    if (model === undefined) throw new Error('a request was valid for a model that is not in the catalogue');
    const { input, callBackUrl } = parsed.data;
    const param: TaskParam = {
      model: model.model,
      input: withDefaults(input, model.input),
      ...(typeof callBackUrl === 'string' && { callBackUrl }),
    };
    const errors = [...relationErrors(model.input, param), ...(rules.inputErrorsOfModel?.(param) ?? [])];
    return errors.length > 0 ? { ok: false, errors } : { ok: true, param };
  };
}

const namesModel = z.object({ model: z.string() });

/** The input that all models have in common; undefined if they differ, and then a request with an unknown model is checked no further. */
function commonInput({ models }: Offer): ModelInput | undefined {
  const [first, ...others] = [...models.values()].map(({ input }) => input);
  const text = JSON.stringify(first);
  return others.every((other) => JSON.stringify(other) === text) ? first : undefined;
}

const videoNotSupported = 'reference video is not supported; leave this field out';

function bodySchema(rules: TaskRequestRules, model: string, input: ModelInput | undefined) {
  return z.strictObject(
    {
      model: modelSchema([...rules.offer.models.keys()]),
      input: input === undefined ? z.unknown() : inputSchema(input, { model, refuseMediaUrl: rules.refuseMediaUrl }),
      callBackUrl: callBackUrlSchema(rules.refuseCallbackUrl).nullish(),
    },
    { error: 'must be a JSON object' },
  ) as unknown as z.ZodType<{ input: Parameters<typeof withDefaults>[0]; callBackUrl?: string | null | undefined }>;
}

type InputRules = { readonly model: string; readonly refuseMediaUrl: RefuseUrl };

/** The schema of `input` in a request for a model. Fields of other models exist in it only to be refused with a reason. */
function inputSchema(input: ModelInput, rules: InputRules) {
  const refused = (name: FieldName) => {
    const error = name === 'videoUrls' ? videoNotSupported : `is not supported by ${rules.model}; leave this field out`;
    return z.undefined({ error }).optional();
  };
  const shape = inputFieldNames.map((name) => [
    name,
    input.fields[name] === undefined ? refused(name) : fieldSchema(input, name, rules),
  ]);
  return z.strictObject(Object.fromEntries(shape) as Record<FieldName, z.ZodType>, {
    error: required('must be an object'),
  });
}

const acceptAll: RefuseUrl = () => undefined;

export function callBackUrlSchema(refuse = acceptAll) {
  return urlSchema(refuse).meta({ description: 'Receives a callback when the task succeeds or fails.' });
}

/** The schema of `input` for documents: the fields that the model takes. `exclusive` and `requires` are in the words of JSON Schema. */
export function documentedInput(input: ModelInput) {
  const fields = fieldsOfModel(input);
  const shape = fields.map((name) => [name, fieldSchema(input, name, { model: '', refuseMediaUrl: acceptAll })]);
  const dependent = fields.flatMap((name) => {
    const others = requiredBy(input, name);
    return others.length === 0 ? [] : [[name, others] as const];
  });
  const pairs = input.exclusive.flatMap((names) =>
    names.flatMap((a, index) => names.slice(index + 1).map((b) => ({ not: { required: [a, b] } }))),
  );
  return z.strictObject(Object.fromEntries(shape) as Record<string, z.ZodType>).meta({
    ...(dependent.length > 0 && { dependentRequired: Object.fromEntries(dependent) }),
    ...(pairs.length > 0 && { allOf: pairs }),
  });
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Returns the JSON Schema of `input` for a model, with the defaults. Null, which means the same as absence, is left out. It is made once
 * for each input, because it takes 1.5 ms and `GET /models` has one for each of up to 100 models.
 */
export function inputJsonSchema(input: ModelInput): JsonSchema {
  const schema = schemas.get(input) ?? makeJsonSchema(input);
  schemas.set(input, schema);
  return schema;
}

const schemas = new WeakMap<ModelInput, JsonSchema>();

function makeJsonSchema(input: ModelInput): JsonSchema {
  const {
    $schema: _draft,
    properties,
    ...schema
  } = withoutNull(z.toJSONSchema(documentedInput(input), { io: 'input', unrepresentable: 'any' }));
  // A list of at most none is a field that the model lacks.
  const taken = Object.entries(properties as Record<FieldName, JsonSchema>).filter(
    ([, { maxItems }]) => maxItems !== 0,
  );
  const fields = taken.map(([name, field]) => {
    const standard = defaultOf(input, name as FieldName);
    // An empty list or prompt is the same as none, and no default where the model requires some.
    const hasDefault = standard !== undefined && standard !== '' && !Array.isArray(standard);
    return [name, hasDefault ? { ...field, default: standard } : field] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  const [only, ...others] = Array.isArray(anyOf) ? (anyOf as JsonSchema[]).filter(({ type }) => type !== 'null') : [];
  if (only !== undefined && others.length === 0) return withoutNull({ ...only, ...rest });
  // zod writes a type without bounds and null as a list of types.
  const types = (Array.isArray(rest['type']) ? rest['type'] : []).filter((one) => one !== 'null');
  if (anyOf === undefined && types.length === 1) return { ...rest, type: types[0] as unknown };
  if (rest['properties'] === undefined) return schema;
  const fields = Object.entries(rest['properties'] as Record<string, JsonSchema>);
  return { ...rest, properties: Object.fromEntries(fields.map(([name, field]) => [name, withoutNull(field)])) };
}

/** The smallest request for a model: what it requires, and nothing else. */
export function sampleRequest(model: string, input: ModelInput) {
  const { required: names = [] } = inputJsonSchema(input) as { readonly required?: readonly string[] };
  const samples: Readonly<Record<string, unknown>> = {
    prompt: 'A lighthouse in the fog',
    imageUrls: ['https://example.com/image.jpg'],
    firstFrameUrl: 'https://example.com/first.jpg',
    lastFrameUrl: 'https://example.com/last.jpg',
    videoUrls: ['https://example.com/video.mp4'],
    audioUrls: ['https://example.com/audio.mp3'],
  };
  return { model, input: Object.fromEntries(names.map((name) => [name, samples[name]])) };
}

/** The documented body: one shape for all models with the same input. */
export function documentedTaskRequest({ models }: Offer) {
  const groups = new Map<string, { readonly names: string[]; readonly input: ModelInput }>();
  for (const { model, input } of models.values()) {
    const key = JSON.stringify(input);
    const group = groups.get(key) ?? { names: [], input };
    groups.set(key, group);
    group.names.push(model);
  }
  const shapes = [...groups.values()].map(({ names, input }) =>
    z.strictObject({
      model: modelSchema(names),
      input: documentedInput(input),
      callBackUrl: callBackUrlSchema().nullish(),
    }),
  );
  const [first, ...others] = shapes;
  if (first === undefined) throw new Error('a catalogue has at least one model');
  const schema = others.length === 0 ? first : z.union([first, ...others]);
  return schema.meta({
    id: 'TaskRequest',
    example: { model: [...models.keys()].at(-1), input: { prompt: 'A lighthouse in the fog', duration: 5 } },
  });
}

function modelSchema(models: readonly string[]) {
  const error = required((input) => unknownModelMessage(input, models));
  return z
    .string({ error })
    .refine((model) => models.includes(model), { error })
    .meta({ enum: [...models] });
}

/** The errors that single fields cannot have: fields that need each other, and fields that exclude each other. */
function relationErrors(input: ModelInput, { model, input: given }: TaskParam): readonly FieldError[] {
  const present = fieldsOfModel(input).filter((name) => isPresent(given, name));
  const missing = present.flatMap((name) =>
    requiredBy(input, name)
      .filter((other) => !present.some((one) => one === other))
      .map((other) => ({ path: `input.${other}`, message: `is required together with ${name} for ${model}` })),
  );
  const excluded = input.exclusive.flatMap((names) => {
    const [first, ...others] = names.filter((name) => present.includes(name));
    return others.map((name) => ({
      path: `input.${name}`,
      message: `must be left out together with ${first}: ${model} takes one of ${names.join(', ')}`,
    }));
  });
  const isEmpty = isBlank(given.prompt) && !mediaUrlsOf(given).some(({ kind }) => kind === 'image');
  const wordless = isEmpty ? [{ path: 'input.prompt', message: `is required without an image for ${model}` }] : [];
  return firstOfEachPath([...wordless, ...missing, ...excluded]);
}

const bodyFields = ['model', 'input', 'callBackUrl'];

function fieldErrors(issue: z.core.$ZodIssue, input: ModelInput | undefined): readonly FieldError[] {
  const path = fieldPath(issue.path);
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
  const fields = input === undefined ? inputFieldNames : fieldsOfModel(input);
  const known = path === '' ? bodyFields : path === 'input' ? fields : optionsOf(input, path);
  return issue.keys.slice(0, maxFieldErrors).map((key) => ({
    path: fieldPath([...issue.path, key]),
    message: unknownField(path, key, { known, fields, options: optionsOf(input, 'input.options') }),
  }));
}

function optionsOf(input: ModelInput | undefined, path: string): readonly string[] {
  return path === 'input.options' ? Object.keys(input?.fields.options ?? {}) : [];
}

type Known = {
  readonly known: readonly string[];
  readonly fields: readonly string[];
  readonly options: readonly string[];
};

/** A request with a typo or a misplaced field must not be charged. */
function unknownField(parent: string, key: string, { known, fields, options }: Known): string {
  const meant = didYouMean(key, known);
  if (meant !== undefined) return `unknown field, did you mean ${meant}?`;
  if (parent === 'input.options') return `unknown option, must be one of ${known.join(', ')}`;
  const option = didYouMean(key, options);
  if (option !== undefined) return `unknown field, did you mean input.options.${option}?`;
  const misplaced = didYouMean(key, parent === '' ? fields : bodyFields);
  if (misplaced === undefined) return 'unknown field';
  return `unknown field, did you mean ${parent === '' ? `input.${misplaced}` : `${misplaced} beside input`}?`;
}
