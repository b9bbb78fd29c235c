import { z } from 'zod';
import type { Shape } from '../../http/endpoint.ts';
import type { HttpError } from '../../http/errors.ts';

/** OpenAI's error object. `code` is our stable code, `param` the first field that is invalid. */
export const errorSchema = z
  .strictObject({
    error: z.strictObject({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string(),
    }),
  })
  .meta({ id: 'OpenAIError' });

export const openAIErrors: Shape = {
  name: 'openai',
  errorSchema,
  errorBody: (error) => ({
    error: {
      message: error.envelope.msg,
      type: typeOf(error.envelope.code),
      param: firstParameter(error),
      code: error.code,
    },
  }),
};

function typeOf(status: number): string {
  if (status >= 500) return 'server_error';
  const types: Readonly<Record<number, string>> = {
    401: 'authentication_error',
    402: 'insufficient_quota',
    403: 'permission_error',
    429: 'rate_limit_error',
  };
  return types[status] ?? 'invalid_request_error';
}

function firstParameter({ envelope }: HttpError): string | null {
  const { errors: [first] = [] } = envelope.data as { readonly errors?: readonly { readonly path: string }[] };
  return first === undefined || first.path === '' ? null : first.path;
}
