import { z } from 'zod';
import { didYouMean } from '../platform/did-you-mean.ts';
import { type FieldError, fieldPath, firstOfEachPath, maxFieldErrors } from '../platform/field-errors.ts';
import type { Offer } from '../models/model.ts';
import {
  inputFieldNames,
  inputRequestSchema,
  type RefuseUrl,
  required,
  urlSchema,
  withDefaults,
} from './task-input.ts';
import type { TaskParam } from './task.ts';

export type TaskRequestRules = {
  readonly offer: Offer;
  readonly refuseImageUrl: RefuseUrl;
  readonly refuseCallbackUrl: RefuseUrl;
  /** Returns errors of a valid request for its model. */
  readonly refuseInput?: (param: TaskParam) => readonly FieldError[];
};

export type ParsedTaskRequest =
  | { readonly ok: true; readonly param: TaskParam }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

/** Reports all errors together, fills in defaults and rounds the duration. */
export function createTaskRequestParser(rules: TaskRequestRules): (body: unknown) => ParsedTaskRequest {
  const schema = taskRequestSchema(rules);
  return (body) => {
    const parsed = schema.safeParse(body);
    if (!parsed.success)
      return { ok: false, errors: firstOfEachPath(parsed.error.issues.flatMap(fieldErrors)).slice(0, maxFieldErrors) };
    const param = taskParam(parsed.data);
    const errors = rules.refuseInput?.(param) ?? [];
    return errors.length > 0 ? { ok: false, errors } : { ok: true, param };
  };
}

type TaskRequestBody = z.output<ReturnType<typeof taskRequestSchema>>;

/** Omits `videoUrls`, which exists only to be refused. */
export function documentedTaskRequest(offer: Offer) {
  const schema = taskRequestSchema({ offer, refuseImageUrl: () => undefined, refuseCallbackUrl: () => undefined });
  return schema.extend({ input: schema.shape.input.omit({ videoUrls: true }) }).meta({
    id: 'TaskRequest',
    example: { model: [...offer.models.keys()].at(-1), input: { prompt: 'A lighthouse in the fog', duration: 5 } },
  });
}

/** `meta` documents rules that JSON Schema cannot derive. */
function taskRequestSchema(rules: TaskRequestRules) {
  return z.strictObject(
    {
      model: modelSchema([...rules.offer.models.keys()]),
      input: inputRequestSchema({ limits: rules.offer.limits, refuseImageUrl: rules.refuseImageUrl }).extend({
        videoUrls: z.undefined({ error: 'reference video is not supported; leave this field out' }).optional(),
      }),
      callBackUrl: urlSchema(rules.refuseCallbackUrl)
        .meta({ description: 'Receives a callback when the task succeeds or fails.' })
        .nullish(),
    },
    { error: 'must be a JSON object' },
  );
}

function modelSchema(models: readonly string[]) {
  const error = `must be one of ${models.join(', ')}`;
  return z
    .string({ error: required(error) })
    .refine((model) => models.includes(model), { error })
    .meta({ enum: [...models] });
}

const fieldsAt: Record<string, readonly string[]> = {
  '': ['model', 'input', 'callBackUrl'],
  input: inputFieldNames,
};

function fieldErrors(issue: z.core.$ZodIssue): readonly FieldError[] {
  const path = fieldPath(issue.path);
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
  return issue.keys.slice(0, maxFieldErrors).map((key) => ({
    path: fieldPath([...issue.path, key]),
    message: unknownField(path, key),
  }));
}

/** A request with a typo or a misplaced field must not be charged. */
function unknownField(parent: string, key: string): string {
  const meant = didYouMean(key, fieldsAt[parent] ?? []);
  if (meant !== undefined) return `unknown field, did you mean ${meant}?`;
  const elsewhere = parent === '' ? 'input' : '';
  const misplaced = didYouMean(key, fieldsAt[elsewhere] ?? []);
  if (misplaced === undefined) return 'unknown field';
  return `unknown field, did you mean ${elsewhere === '' ? `${misplaced} beside input` : `${elsewhere}.${misplaced}`}?`;
}

function taskParam({ model, input, callBackUrl }: TaskRequestBody): TaskParam {
  return { model, input: withDefaults(input), ...(typeof callBackUrl === 'string' && { callBackUrl }) };
}
