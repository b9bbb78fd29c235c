import { z } from 'zod';
import { findNearestName } from '../../platform/text/did-you-mean.ts';
import { type FieldError, fieldPath, firstOfEachPath, maxFieldErrors } from '../../platform/text/field-errors.ts';
import { messageOfRequestIssue } from '../../platform/text/validation-messages.ts';
import type { AllowList } from '../../platform/outbound/guard/allow-list.ts';
import { urlRefusal } from '../../platform/outbound/guard/guard.ts';
import type {
  Catalogue,
  CatalogueModel,
  WithCatalogueGetter,
} from '../../catalogue/file/catalogue-schema-and-types.ts';
import { inputErrorsOfModel } from '../../catalogue/models/input-refusals-and-untried-tiers.ts';
import type { ModelsByName, WithModels } from '../../catalogue/models/model-type-and-name-lookup.ts';
import {
  type FieldName,
  fieldSchema,
  fieldsOfModel,
  inputFieldNames,
  isPresent,
  mediaUrlsOf,
  type ModelInput,
  fieldsRequiredWith,
  withDefaults,
} from '../../catalogue/input/task-input.ts';
import {
  isBlank,
  type RefuseUrl,
  missingOrInvalidMessage,
  urlSchema,
} from '../../catalogue/input/url-schema-and-text-checks.ts';
import { unknownModelMessage } from '../../catalogue/input/spelling-suggestions.ts';
import type { TaskParam } from '../../catalogue/tasks/task.ts';
import { isUploadPreviewUrl, uploadFromUrl } from '../../media/references/upload-limits-and-addresses.ts';

export type TaskRequestRules = {
  readonly offer: WithModels;
  /** Returns why reference media may not be fetched from this URL. */
  readonly refuseMediaUrl: RefuseUrl;
  readonly refuseCallbackUrl: RefuseUrl;
  readonly inputErrorsOfModel?: (param: TaskParam) => readonly FieldError[];
};

export type TaskRequestParseResult =
  | { readonly ok: true; readonly param: TaskParam }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

/** A create request of any API as one of ours, before it is parsed. */
export type RequestTranslation = {
  readonly ours: unknown;
  /** What the task gets beside the fields of `ours`. */
  readonly added?: Pick<TaskParam, 'endUser' | 'requestedModel'>;
  /** Names the fields of errors in the client's spelling, and adds the errors that the translation found; without it, nothing changes. */
  readonly theirErrors?: (ofOurs: readonly FieldError[]) => readonly FieldError[];
  /** Added to the message of a refusal. */
  readonly hint?: () => string | undefined;
};

export type TranslateRequest = (body: Readonly<Record<string, unknown>>, models: ModelsByName) => RequestTranslation;

type RefusedRequest = {
  readonly ok: false;
  readonly errors: readonly FieldError[];
  readonly hint: string | undefined;
};

/** A create request in our own form. Its order takes everything from this `model`, so a reload of the catalogue cannot change it halfway. */
export type ParsedOrRefusedRequest =
  | {
      readonly ok: true;
      readonly param: TaskParam;
      readonly model: CatalogueModel;
      /** Refuses the request for later errors, whose fields it names in the client's spelling. */
      readonly refuseWith: (errors: readonly FieldError[]) => RefusedRequest;
    }
  | RefusedRequest;

export type TranslateDeps = WithCatalogueGetter & {
  readonly parseTaskRequest: (body: unknown) => TaskRequestParseResult;
};

/** Translates and parses a request with the catalogue in force. Everything is read in one tick, so the parser uses the same catalogue. */
export function translateAndParseRequest(
  { input, translate }: { readonly input: Readonly<Record<string, unknown>>; readonly translate: TranslateRequest },
  { catalogue, parseTaskRequest }: TranslateDeps,
): ParsedOrRefusedRequest {
  const { models } = catalogue();
  const { ours, added, theirErrors = (errors) => errors, hint } = translate(input, models);
  const refuseWith = (errors: readonly FieldError[]): RefusedRequest => ({
    ok: false,
    errors: theirErrors(errors),
    hint: hint?.(),
  });
  const parsed = parseTaskRequest(ours);
  if (!parsed.ok) return refuseWith(parsed.errors);
  if (theirErrors([]).length > 0) return refuseWith([]);
  const param = { ...parsed.param, ...added };
  const model = models.get(param.model);
  if (model === undefined) throw new Error(`the model ${param.model} of a valid request is not in the catalogue`);
  return { ok: true, param, model, refuseWith };
}

type InstallationRules = {
  readonly imageAllow: AllowList;
  readonly callbackAllow: AllowList;
  readonly publicUrl: string;
};

/** The parser of create requests with the allow-lists of this installation and the models of the catalogue in force. */
export function createLiveRequestParser(
  { imageAllow, callbackAllow, publicUrl }: InstallationRules,
  currentCatalogue: () => Catalogue,
): (body: unknown) => TaskRequestParseResult {
  const parserFor = (offer: Catalogue) =>
    createTaskRequestParser({
      offer,
      // An uploaded file is read from the store, so its URL is not checked here; createTask checks its owner and kind.
      refuseMediaUrl: (url) => {
        if (isUploadPreviewUrl(publicUrl, url)) return 'is the previewUrl of an upload, which expires; give its url';
        return uploadFromUrl(publicUrl, url) === undefined ? urlRefusal(url, imageAllow) : undefined;
      },
      refuseCallbackUrl: (url) => urlRefusal(url, callbackAllow),
      inputErrorsOfModel: ({ model: name, input }) => {
        const model = offer.models.get(name);
        return model === undefined ? [] : inputErrorsOfModel(model, input);
      },
    });
  let catalogue: Catalogue | undefined;
  let parse: ReturnType<typeof parserFor> | undefined;
  return (body) => {
    const current = currentCatalogue();
    if (parse === undefined || current !== catalogue) parse = parserFor(current);
    catalogue = current;
    return parse(body);
  };
}

/** Reports all errors together, fills in the model's defaults and rounds the duration. */
export function createTaskRequestParser(rules: TaskRequestRules): (body: unknown) => TaskRequestParseResult {
  const { models } = rules.offer;
  const schemas = new Map([...models].map(([name, { input }]) => [name, bodySchema(rules, name, input)] as const));
  const otherwise = bodySchema(rules, 'this model', commonInput(rules.offer));
  return (body) => {
    const { data: named } = namesModel.safeParse(body);
    const model = named && models.get(named.model);
    const parsed = ((named && schemas.get(named.model)) ?? otherwise).safeParse(body, { error: messageOfRequestIssue });
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
function commonInput({ models }: WithModels): ModelInput | undefined {
  const [first, ...others] = [...models.values()].map(({ input }) => input);
  const text = JSON.stringify(first);
  return others.every((other) => JSON.stringify(other) === text) ? first : undefined;
}

const videoNotSupported = 'reference video is not supported; leave this field out';

function bodySchema(rules: TaskRequestRules, model: string, input: ModelInput | undefined) {
  return z.strictObject(
    {
      model: modelNameSchema([...rules.offer.models.keys()]),
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
    error: missingOrInvalidMessage('must be an object'),
  });
}

export function callBackUrlSchema(refuse: RefuseUrl) {
  return urlSchema(refuse).meta({ description: 'Receives a callback when the task succeeds or fails.' });
}

export function modelNameSchema(models: readonly string[]) {
  const error = missingOrInvalidMessage((input) => unknownModelMessage(input, models));
  return z
    .string({ error })
    .refine((model) => models.includes(model), { error })
    .meta({ enum: [...models] });
}

/** The errors that single fields cannot have: fields that need each other, and fields that exclude each other. */
function relationErrors(input: ModelInput, { model, input: given }: TaskParam): readonly FieldError[] {
  const present = fieldsOfModel(input).filter((name) => isPresent(given, name));
  const missing = present.flatMap((name) =>
    fieldsRequiredWith(input, name)
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

type Known = Readonly<Record<'known' | 'fields' | 'options', readonly string[]>>;

/** A request with a typo or a misplaced field must not be charged. */
function unknownField(parent: string, key: string, { known, fields, options }: Known): string {
  const meant = findNearestName(key, known);
  if (meant !== undefined) return `unknown field, did you mean ${meant}?`;
  if (parent === 'input.options') return `unknown option, must be one of ${known.join(', ')}`;
  const option = findNearestName(key, options);
  if (option !== undefined) return `unknown field, did you mean input.options.${option}?`;
  const misplaced = findNearestName(key, parent === '' ? fields : bodyFields);
  if (misplaced === undefined) return 'unknown field';
  return `unknown field, did you mean ${parent === '' ? `input.${misplaced}` : `${misplaced} beside input`}?`;
}
