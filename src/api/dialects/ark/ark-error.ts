import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { ErrorShape } from '../../core/endpoint-spec.ts';
import { firstErrorField } from '../first-error-field.ts';

/** Ark's error object. `code` is our stable code, `param` the first field that is invalid, `type` names the status. */
export const arkErrorShape: ErrorShape = {
  name: 'ark',
  errorSchema: z
    .strictObject({
      error: z.strictObject({ code: z.string(), message: z.string(), param: z.string(), type: z.string() }),
    })
    .meta({ id: 'ArkError' }),
  errorBody: (error) => {
    const { code: status, msg: message } = error.envelope;
    const type = STATUS_CODES[status]?.replaceAll(' ', '') ?? '';
    return { error: { code: error.code, message, param: firstErrorField(error) ?? '', type } };
  },
};
