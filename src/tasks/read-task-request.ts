import { z } from 'zod';
import { adapterOf } from '../ingress/dialect.ts';
import type { Model } from '../models/model.ts';
import { refuseUploads } from '../media/refuse-uploads.ts';
import type { FieldError } from '../platform/field-errors.ts';
import type { Call } from '../http/endpoint.ts';
import { HttpError, invalidRequest } from '../http/errors.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import type { TaskParam } from './task-input.ts';

/** The caller's dialect validates the body of a create request. */
export const anyJson = z.record(z.string(), z.unknown());

type TaskCall = Pick<Call<'any', undefined, typeof anyJson>, 'caller' | 'dialect' | 'input'>;
type RequestedTask = { readonly param: TaskParam; readonly model: Model };

/** Validates a create request and finds its model. A 422 also lists the errors of the headers. */
export async function readTaskRequest(
  call: TaskCall,
  deps: HttpDeps,
  headerErrors: readonly FieldError[] = [],
): Promise<RequestedTask> {
  const request = await parseRequest(call, deps);
  if (headerErrors.length > 0 || !request.ok) {
    throw invalidRequest([...headerErrors, ...(request.ok ? [] : request.errors)], request.hint);
  }
  const { param } = request;
  const model = deps.catalogue().models.get(param.model);
  if (model === undefined) throw new Error(`the model ${param.model} of a valid request is not in the catalogue`);
  if (!deps.isSold(model.model)) throw new HttpError('model_unavailable');
  return { param, model };
}

async function parseRequest(
  { caller, dialect, input }: TaskCall,
  { db, catalogue, parseTaskRequest, publicUrl }: HttpDeps,
) {
  const { models } = catalogue();
  const { taskRequest } = adapterOf(dialect);
  const request = taskRequest(input, { parse: parseTaskRequest, models });
  if (!request.ok) return request;
  const errors = await refuseUploads(db, { accountId: caller.accountId, publicUrl, input: request.param.input });
  // Parses again, so that errors name the field in the client's spelling.
  return errors.length === 0 ? request : taskRequest(input, { parse: () => ({ ok: false, errors }), models });
}
