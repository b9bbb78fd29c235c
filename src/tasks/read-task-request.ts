import { z } from 'zod';
import type { Caller } from '../accounts/api-key.ts';
import { refuseImage } from '../models/catalogue/route.ts';
import type { Model } from '../models/model.ts';
import type { FrameSize } from '../media/frame-size.ts';
import { refuseUploads } from '../media/refuse-uploads.ts';
import type { FieldError } from '../platform/field-errors.ts';
import { HttpError, invalidRequest } from '../http/errors.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import type { TaskParam } from './task-input.ts';
import type { TranslateRequest } from './task-request.ts';

/** The caller's dialect validates the body of a create request. */
export const anyJson = z.record(z.string(), z.unknown());

type TaskCall = {
  readonly caller: Caller;
  readonly input: Readonly<Record<string, unknown>>;
  readonly translate: TranslateRequest;
};
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
  if (call.caller.models?.includes(model.model) === false) {
    const msg = `the API key may not use ${model.model}; it may use ${call.caller.models.join(', ')}`;
    throw new HttpError('model_not_allowed', { msg });
  }
  if (!deps.isSold(model.model)) throw new HttpError('model_unavailable');
  return { param, model };
}

async function parseRequest(
  { caller, input, translate }: TaskCall,
  { db, catalogue, parseTaskRequest, publicUrl }: HttpDeps,
) {
  const { models } = catalogue();
  const request = translate(input, { parse: parseTaskRequest, models });
  if (!request.ok) return request;
  const { input: media, model: name } = request.param;
  const model = models.get(name);
  const refuseSize = (size: FrameSize) => model && refuseImage(model, media, size);
  const errors = await refuseUploads(db, { accountId: caller.accountId, publicUrl, input: media, refuseSize });
  // Parses again, so that errors name the field in the client's spelling.
  return errors.length === 0 ? request : translate(input, { parse: () => ({ ok: false, errors }), models });
}
