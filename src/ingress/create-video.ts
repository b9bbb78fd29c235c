import type { Call } from '../http/endpoint.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import type { FieldError } from '../platform/field-errors.ts';
import { aliasOf, type ModelCatalogue, modelOfAlias } from '../models/model.ts';
import { createTaskFor } from '../tasks/create-task.ts';
import type { TranslateRequest } from '../tasks/read-task-request.ts';
import type { Task } from '../tasks/task.ts';
import { findTask } from '../tasks/tasks.ts';

/** A create request in our names. Undefined fields are left out. */
export type VideoRequest = {
  readonly model: unknown;
  readonly input: Readonly<Record<string, unknown>>;
  readonly callBackUrl?: unknown;
  /** Errors that the translation found. */
  readonly errors?: readonly FieldError[];
};

type CreateVideo = {
  /** The name of the shape. */
  readonly shape: string;
  readonly request: VideoRequest;
  /** The client's name for a field of ours, such as `seconds` for `input.duration`. Names that are missing stay. */
  readonly names: Readonly<Record<string, string>>;
};

type CreateCall = Pick<Call<'tasks:write', undefined, undefined>, 'caller' | 'ctx'>;

/** Accepts the task of another API's request, with the rules and the price of `createTask`. Model names may be aliases. */
export async function createVideo(call: CreateCall, deps: HttpDeps, given: CreateVideo): Promise<Task> {
  const { shape, request, names } = given;
  const { caller, ctx } = call;
  const input = { model: request.model, input: request.input, callBackUrl: request.callBackUrl };
  const translate: TranslateRequest = (body, { parse, models }) => {
    const named = body['model'];
    const model = typeof named === 'string' ? modelOfAlias(models, named) : named;
    const parsed = parse({ ...body, model });
    const found = [
      ...(request.errors ?? []),
      ...(parsed.ok ? [] : parsed.errors.map((error) => respell(error, names))),
    ];
    if (found.length === 0) return parsed;
    const errors = found.map(({ path, message }) =>
      path === 'model' ? { path, message: namesModels(message, models) } : { path, message },
    );
    return { ok: false, errors };
  };
  const { taskId } = await createTaskFor({ caller, ctx, input, translate, dialect: shape }, deps);
  const task = await findTask(deps.db, taskId);
  if (task === undefined) throw new Error(`the accepted task ${taskId} does not exist`);
  return task;
}

/** Names models as clients of other APIs do, also to a request without a model. */
function namesModels(message: string, models: ModelCatalogue): string {
  const text = message === 'is required' ? `is required: one of ${[...models.keys()].join(', ')}` : message;
  return text.replaceAll(/[\w./-]+/g, (name) => aliasOf(models, name));
}

/** `input.imageUrls[2]` becomes the name of `input.imageUrls`, followed by `[2]`. */
function respell({ path, message }: FieldError, names: Readonly<Record<string, string>>): FieldError {
  const [, field = path, rest = ''] = /^((?:input\.)?\w+)(.*)$/.exec(path) ?? [];
  return { path: `${names[field] ?? field.replace(/^input\./, '')}${rest}`, message };
}
