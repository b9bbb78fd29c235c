import { z } from 'zod';
import type { EndpointCall, WithClock, WithDb } from '../core/endpoint-spec.ts';
import type { FieldError } from '../../platform/text/field-errors.ts';
import {
  type Model,
  type ModelsByName,
  modelNameFromAlias,
  modelNamesAndAliases,
} from '../../catalogue/models/model-type-and-name-lookup.ts';
import { unknownModelMessage } from '../../catalogue/input/spelling-suggestions.ts';
import { storeInlineMedia, type InlineMediaDeps } from './inline-media.ts';
import { idempotencyKeyHeader, replayedHeader } from '../core/idempotency-key.ts';
import { setUnusedHeader, unusedFieldsHeaderDoc } from './unused-fields.ts';
import type { CreatedTask } from '../../tasks/accept/order-task.ts';
import { createFailures, takeOrder, type TakeOrderDeps } from '../tasks/create-task-routes.ts';
import type { TranslateRequest } from '../../tasks/accept/parse-task-request.ts';
import { newTaskRecord, type TaskRecord } from '../../tasks/public-record.ts';
import { presentTask, type TaskRecordDeps } from '../tasks/task-view.ts';
import { inputFieldNames } from '../../catalogue/input/task-input.ts';
import { findTask } from '../../tasks/task-rows.ts';

/** A create request in our names. Fields that are undefined, null or an empty list are absent; media may be files or data URLs. */
export type VideoRequest = {
  readonly model: unknown;
  readonly input: Readonly<Record<string, unknown>>;
  readonly callBackUrl?: unknown;
  /** The client's own end user. */
  readonly endUser?: string;
  readonly errors?: readonly FieldError[];
  /** The client's paths of fields that change nothing; the response names them in a header. */
  readonly unused?: readonly string[];
};

type CreateVideo = {
  readonly shape: string;
  readonly request: VideoRequest;
  /** The client's names for fields of ours, such as `seconds` for `input.duration`. A field that is not listed has our name. */
  readonly names: Readonly<Record<string, string>>;
};

/** The words for frames, which are items of a list in other APIs. */
const frameWords: Readonly<Record<string, string>> = {
  'input.firstFrameUrl': 'first_frame',
  'input.lastFrameUrl': 'last_frame',
};
const defaultFrameList = 'frame_images';

type CreateCall = Pick<EndpointCall<'tasks:write', undefined, undefined>, 'caller' | 'ctx'>;

/** `replayed`: an earlier attempt at the same create started the task, and this one charges nothing. */
export type CreatedVideo = { readonly record: TaskRecord; readonly replayed: { readonly replayed?: true } };

/** The field of a create's response that shows a replay, as the header `Idempotency-Replayed` does. */
export const replayedField = z.literal(true).optional().meta({
  description: 'Only in the response to a create: an earlier attempt started the task, and nothing was charged again.',
});

/** The parts that the declarations of all creates have in common. */
export const createVideoSpec = {
  scope: 'tasks:write',
  createsTask: true,
  refusesSuspended: true,
  takesInlineFiles: true,
  headers: idempotencyKeyHeader,
  answerHeaders: { ...replayedHeader, ...unusedFieldsHeaderDoc },
  failures: createFailures,
} as const;

type ReadDeps = WithDb & WithClock & TaskRecordDeps;
export type CreateVideoDeps = ReadDeps & TakeOrderDeps & InlineMediaDeps;

/** Accepts the task of another API's request, with the rules and the price of `createTask`. Model names may be aliases. */
export async function createVideo(call: CreateCall, deps: CreateVideoDeps, given: CreateVideo): Promise<CreatedVideo> {
  const { shape, request, names } = given;
  const { caller, ctx } = call;
  const pathOf = (field: string) => respell({ path: `input.${field}`, message: '' }, names).path;
  const media = await storeInlineMedia(deps, caller.accountId, { input: request.input, pathOf });
  const fields = { ...request.input, ...media };
  const input = { model: request.model, input: fields, callBackUrl: request.callBackUrl };
  const translate: TranslateRequest = (body, models) => {
    const named = body['model'] ?? undefined;
    const model = typeof named === 'string' ? modelNameFromAlias(models, named) : named;
    const { taken, untaken } = fieldsFor(typeof model === 'string' ? models.get(model) : undefined, fields);
    return {
      ours: { ...body, model, input: taken },
      added: {
        ...(typeof named === 'string' && { requestedModel: named }),
        ...(request.endUser !== undefined && { endUser: request.endUser }),
      },
      theirErrors: (errors) =>
        [
          ...(request.errors ?? []),
          ...untaken.map((name) => respell({ path: `input.${name}`, message: notTaken }, names)),
          ...errors.map((error) => respell(error, names)),
        ].map(({ path, message }) => (path === 'model' ? unknownModelOf(named, models) : { path, message })),
    };
  };
  const created = await takeOrder(ctx, deps, { caller, input, translate, dialect: shape });
  setUnusedHeader(ctx, request.unused);
  return { record: await recordOf(deps, created), replayed: created.kind === 'replayed' ? { replayed: true } : {} };
}

/** A new task is charged, so its request succeeds even if the task cannot be read afterwards. A replay charges nothing, so it may fail. */
async function recordOf(deps: ReadDeps, created: CreatedTask): Promise<TaskRecord> {
  try {
    const task = await findTask(deps.db, created.taskId);
    if (task === undefined) throw new Error(`the accepted task ${created.taskId} does not exist`);
    return await presentTask(deps, task);
  } catch (error) {
    if (created.kind === 'replayed') throw error;
    return newTaskRecord(created, deps.now());
  }
}

const notTaken = 'is not supported by this model; leave it out';

type Fields = VideoRequest['input'];

/** Separates the fields of the vocabulary that the model does not take. */
function fieldsFor(
  model: Model | undefined,
  input: Fields,
): { readonly taken: Fields; readonly untaken: readonly string[] } {
  const given = Object.entries(input).filter(([, value]) => isGiven(value));
  const isTaken = (name: string) =>
    model === undefined || !inputFieldNames.some((known) => known === name) || Object.hasOwn(model.input.fields, name);
  return {
    taken: Object.fromEntries(given.filter(([name]) => isTaken(name))),
    untaken: given.map(([name]) => name).filter((name) => !isTaken(name)),
  };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

/** The error of an unknown model, with every name that clients of other APIs may use. */
function unknownModelOf(named: unknown, models: ModelsByName): FieldError {
  const names = modelNamesAndAliases(models);
  const isMissing = named === undefined || named === null;
  return {
    path: 'model',
    message: isMissing ? `is required: one of ${names.join(', ')}` : unknownModelMessage(named, names),
  };
}

/** `input.imageUrls[2]` becomes the client's path of the item, or the name of `input.imageUrls` followed by `[2]`. Messages name fields, too. */
function respell({ path, message }: FieldError, names: Readonly<Record<string, string>>): FieldError {
  const [, field = path, rest = ''] = /^((?:input\.)?\w+)(.*)$/.exec(path) ?? [];
  const frame = frameWords[path];
  const theirs = (word: string) => frameWords[`input.${word}`] ?? names[`input.${word}`] ?? word;
  const text = message.replaceAll(/\b[a-z]+(?:[A-Z][a-z]+)+\b/g, theirs);
  // A missing frame has no path in the client's body.
  if (names[path] === undefined && frame !== undefined)
    return { path: names['frames'] ?? defaultFrameList, message: `${frame} ${text}` };
  return { path: names[path] ?? `${names[field] ?? field.replace(/^input\./, '')}${rest}`, message: text };
}
