import type { Call } from '../http/endpoint.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import type { FieldError } from '../platform/field-errors.ts';
import { aliasOf, modelOfAlias } from '../models/model.ts';
import { createTaskFor } from '../tasks/create-task.ts';
import type { TranslateRequest } from '../tasks/read-task-request.ts';
import type { Task } from '../tasks/task.ts';
import { findTask } from '../tasks/tasks.ts';

/** A create request in our names. Undefined fields are left out. */
export type VideoRequest = {
  readonly model: unknown;
  readonly input: Readonly<Record<string, unknown>>;
  readonly callBackUrl?: unknown;
  /** The client's own end user. */
  readonly endUser?: string;
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
    if (found.length === 0 && parsed.ok) {
      const { endUser } = request;
      return { ok: true, param: { ...parsed.param, ...(endUser !== undefined && { endUser }) } };
    }
    const errors = found.map(({ path, message }) =>
      path === 'model'
        ? { path, message: message.replaceAll(/[\w./-]+/g, (name) => aliasOf(models, name)) }
        : { path, message },
    );
    return { ok: false, errors };
  };
  const { taskId } = await createTaskFor({ caller, ctx, input, translate, dialect: shape }, deps);
  const task = await findTask(deps.db, taskId);
  if (task === undefined) throw new Error(`the accepted task ${taskId} does not exist`);
  return task;
}

/** `input.imageUrls[2]` becomes the name of `input.imageUrls`, followed by `[2]`. Messages name fields, too. */
function respell({ path, message }: FieldError, names: Readonly<Record<string, string>>): FieldError {
  const [, field = path, rest = ''] = /^((?:input\.)?\w+)(.*)$/.exec(path) ?? [];
  const theirs = (word: string) => names[`input.${word}`] ?? word;
  return {
    path: names[path] ?? `${names[field] ?? field.replace(/^input\./, '')}${rest}`,
    message: message.replaceAll(/\b[a-z]+(?:[A-Z][a-z]+)+\b/g, theirs),
  };
}
