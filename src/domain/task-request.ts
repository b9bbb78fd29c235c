import { z } from 'zod';
import { didYouMean } from './did-you-mean.ts';
import { type FieldError, fieldPath, firstOfEachPath, maxFieldErrors } from './field-errors.ts';
import type { ModelCatalogue } from './models.ts';
import { ratios, type TaskParam } from './task.ts';

// This file imports zod and so must never be reached from workflow code; the architecture test holds that.

/** Limits of spec 2.3 and 8.1. Prompt length counts Unicode code points. */
export const maxPromptCodePoints = 5000;
export const maxImages = 9;
const maxUrlLength = 2048;
export const minSeconds = 4;
export const maxSeconds = 15;

/** Says why an address may not be used, or undefined when it may; the outbound guard's verdict on the literal. */
export type RefuseUrl = (url: string) => string | undefined;

export type TaskRequestRules = {
  readonly models: ModelCatalogue;
  readonly refuseImageUrl: RefuseUrl;
  readonly refuseCallbackUrl: RefuseUrl;
};

export type ParsedTaskRequest =
  | { readonly ok: true; readonly param: TaskParam }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

/** A parser of create requests: every rule of spec 2.3, all faults at once, defaults filled in, duration rounded. */
export function createTaskRequestParser(rules: TaskRequestRules): (body: unknown) => ParsedTaskRequest {
  const schema = taskRequestSchema(rules);
  return (body) => {
    const parsed = schema.safeParse(body);
    if (parsed.success) return { ok: true, param: taskParam(parsed.data) };
    return { ok: false, errors: firstOfEachPath(parsed.error.issues.flatMap(fieldErrors)).slice(0, maxFieldErrors) };
  };
}

type TaskRequestBody = z.output<ReturnType<typeof taskRequestSchema>>;

/** The schema of the create request as it is documented: without the field whose only rule is that it must not be there. */
export function documentedTaskRequest(models: ModelCatalogue) {
  const schema = taskRequestSchema({ models, refuseImageUrl: () => undefined, refuseCallbackUrl: () => undefined });
  return schema.extend({ input: schema.shape.input.omit({ videoUrls: true }) }).meta({
    id: 'TaskRequest',
    example: { model: [...models.keys()].at(-1), input: { prompt: 'A lighthouse in the fog', duration: 5 } },
  });
}

/** The schema of the create request. What a rule below cannot say in JSON Schema's words, `meta` says for the OpenAPI document. */
function taskRequestSchema(rules: TaskRequestRules) {
  return z.strictObject(
    {
      model: modelSchema([...rules.models.keys()]),
      input: inputSchema(rules.refuseImageUrl),
      callBackUrl: urlSchema(rules.refuseCallbackUrl)
        .meta({ description: 'Notified when the task ends, in success and in failure.' })
        .nullish(),
    },
    { error: 'must be a JSON object' },
  );
}

function modelSchema(models: readonly string[]) {
  return z
    .string({ error: required(`must be one of ${models.join(', ')}`) })
    .refine((model) => models.includes(model), {
      error: `must be one of ${models.join(', ')}`,
    })
    .meta({ enum: [...models] });
}

function inputSchema(refuseImageUrl: RefuseUrl) {
  return z.strictObject(
    {
      prompt: promptSchema(),
      resolution: z.enum(['720p'], { error: 'must be 720p' }).meta({ description: 'Default 720p.' }).nullish(),
      duration: durationSchema().nullish(),
      ratio: z
        .enum(ratios, { error: `must be one of ${ratios.join(', ')}` })
        .meta({ description: 'Default 16:9; `adaptive` takes the ratio nearest to the first image.' })
        .nullish(),
      generateAudio: z
        .boolean({ error: 'must be true or false' })
        .meta({ description: 'Default true; does not affect the price.' })
        .nullish(),
      imageUrls: z
        .array(urlSchema(refuseImageUrl), { error: `must be an array of at most ${maxImages} URLs` })
        .max(maxImages, { error: `must hold at most ${maxImages} URLs` })
        .meta({ description: 'Reference images; none for text-to-video.' })
        .nullish(),
      videoUrls: z.undefined({ error: 'reference video is not supported; leave this field out' }).optional(),
    },
    { error: required('must be an object') },
  );
}

function promptSchema() {
  return z
    .string({ error: required('must be a string') })
    .refine((prompt) => prompt.trim() !== '', { error: 'must not be empty or only white space' })
    .refine(fitsPrompt, { error: `must be at most ${maxPromptCodePoints} characters` })
    .refine(isPlainText, { error: notPlainText })
    .meta({ minLength: 1, maxLength: maxPromptCodePoints, pattern: String.raw`\S` });
}

/** Counts code points, but only of a string short enough to matter: a code point is at most two UTF-16 units. */
function fitsPrompt(prompt: string): boolean {
  if (prompt.length > 2 * maxPromptCodePoints) return false;
  return [...prompt].length <= maxPromptCodePoints;
}

/** PostgreSQL can hold neither, so no request may bring them, in whatever field. */
export const notPlainText = 'must not contain NUL characters or unpaired surrogates';

export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function durationSchema() {
  return z
    .number({ error: 'must be a number of seconds' })
    .transform((seconds) => Math.round(seconds))
    .refine((seconds) => seconds >= minSeconds && seconds <= maxSeconds, {
      error: `must be ${minSeconds} to ${maxSeconds} seconds (a fraction is rounded to a whole number)`,
    })
    .meta({
      description: 'Seconds, rounded half up to a whole number; default 5.',
      minimum: minSeconds - 0.5,
      exclusiveMaximum: maxSeconds + 0.5,
    });
}

function urlSchema(refuse: RefuseUrl) {
  return z
    .string({ error: 'must be an http or https URL' })
    .superRefine((url, context) => {
      const message = urlFault(url) ?? refuse(url);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ format: 'uri', maxLength: maxUrlLength, pattern: '^[hH][tT][tT][pP][sS]?://' });
}

function urlFault(url: string): string | undefined {
  if (url.length > maxUrlLength) return `must be at most ${maxUrlLength} characters`;
  const fault = 'must be an http or https URL';
  if (!/^\s*https?:\/\//i.test(url)) return fault;
  // White space and control characters are dropped or encoded by URL parsers, each in its own way.
  if (!isPlainText(url) || /[\s\p{Cc}]/u.test(url)) return 'must not contain white space or control characters';
  return URL.canParse(url) ? undefined : fault;
}

function required(otherwise: string) {
  return (issue: { readonly input?: unknown }) => (issue.input === undefined ? 'is required' : otherwise);
}

const fieldsAt: Record<string, readonly string[]> = {
  '': ['model', 'input', 'callBackUrl'],
  input: ['prompt', 'resolution', 'duration', 'ratio', 'generateAudio', 'imageUrls'],
};

function fieldErrors(issue: z.core.$ZodIssue): readonly FieldError[] {
  const path = fieldPath(issue.path);
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
  return issue.keys.slice(0, maxFieldErrors).map((key) => ({
    path: fieldPath([...issue.path, key]),
    message: unknownField(path, key),
  }));
}

/** Money is at stake, so a typo or a misplaced field must not be charged. */
function unknownField(parent: string, key: string): string {
  const meant = didYouMean(key, fieldsAt[parent] ?? []);
  if (meant !== undefined) return `unknown field, did you mean ${meant}?`;
  const elsewhere = parent === '' ? 'input' : '';
  const misplaced = didYouMean(key, fieldsAt[elsewhere] ?? []);
  if (misplaced === undefined) return 'unknown field';
  return `unknown field, did you mean ${elsewhere === '' ? `${misplaced} beside input` : `${elsewhere}.${misplaced}`}?`;
}

function taskParam({ model, input, callBackUrl }: TaskRequestBody): TaskParam {
  return {
    model,
    input: {
      prompt: input.prompt,
      resolution: input.resolution ?? '720p',
      duration: input.duration ?? 5,
      ratio: input.ratio ?? '16:9',
      generateAudio: input.generateAudio ?? true,
      imageUrls: input.imageUrls ?? [],
    },
    ...(typeof callBackUrl === 'string' && { callBackUrl }),
  };
}
