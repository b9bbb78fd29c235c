import { z } from 'zod';
import type { ErrorShape } from '../../core/endpoint-spec.ts';
import { firstErrorField } from '../first-error-field.ts';

/** OpenAI's error object. `code` is our stable code, `param` the first field that is invalid. */
export const openAIErrorShape: ErrorShape = {
  name: 'openai',
  errorSchema: z
    .strictObject({
      error: z.strictObject({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string() }),
    })
    .meta({ id: 'OpenAIError' }),
  errorBody: (error) => {
    const { code: status, msg: message } = error.envelope;
    return { error: { message, type: typeOf(status), param: firstErrorField(error) ?? null, code: error.code } };
  },
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
