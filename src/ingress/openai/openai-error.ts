import { z } from 'zod';
import type { Shape } from '../../http/endpoint.ts';

/** OpenAI's error object. `code` is our stable code, `param` the first field that is invalid. */
const error = z.strictObject({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string() });

export const openAIErrors: Shape = {
  name: 'openai',
  errorSchema: z.strictObject({ error }).meta({ id: 'OpenAIError' }),
  errorBody: ({ code, envelope: { code: status, msg: message, data } }) => ({
    error: { message, type: typeOf(status), param: firstParameter(data), code },
  }),
};

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  429: 'rate_limit_error',
};

function typeOf(status: number): string {
  return status >= 500 ? 'server_error' : (types[status] ?? 'invalid_request_error');
}

function firstParameter(data: unknown): string | null {
  // Only the error `invalid_request` has such a list.
  const { errors = [] } = data as { readonly errors?: readonly { readonly path: string }[] };
  return errors[0]?.path || null;
}
