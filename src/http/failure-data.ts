import { z } from 'zod';
import type { Failure } from './failures.ts';

const credits = z.int().nonnegative();

/** `data` of a refusal, where it is more than an empty object. */
const schemas: Partial<Record<Failure, z.ZodObject>> = {
  insufficient_credits: z.strictObject({ required: credits, balance: credits }),
  too_many_unfinished: z.strictObject({ limit: z.int().nonnegative() }),
  too_many_keys: z.strictObject({ limit: z.int().positive() }),
  balance_out_of_range: z.strictObject({ balance: credits }),
  invalid_request: z.strictObject({
    errors: z.array(z.strictObject({ path: z.string(), message: z.string() })),
  }),
  not_ready: z.strictObject({ away: z.array(z.string()) }),
};

const empty = z.strictObject({});

/** The schema of a refusal's `data`. */
export function failureData(failure: Failure): z.ZodObject {
  return schemas[failure] ?? empty;
}
