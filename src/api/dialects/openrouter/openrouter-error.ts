import { z } from 'zod';
import type { ErrorShape } from '../../core/endpoint-spec.ts';

/** OpenRouter's `code` is the HTTP status. Our stable code is in `metadata`, beside the data of the error. */
const errorSchema = z
  .strictObject({
    error: z.strictObject({
      code: z.int(),
      message: z.string(),
      metadata: z.looseObject({ error_code: z.string().meta({ description: 'Stable; `message` may change.' }) }),
    }),
  })
  .meta({ id: 'OpenRouterError' });

export const openRouterErrorShape: ErrorShape = {
  name: 'openrouter',
  errorSchema,
  errorBody: ({ code, envelope: { code: status, msg, data } }) => ({
    error: { code: status, message: msg, metadata: { ...(data as object), error_code: code } },
  }),
};
