import type { z } from 'zod';
import { fieldPath, maxFieldErrors } from '../../domain/field-errors.ts';
import { invalidRequest } from '../invalid-request.ts';
import type { Step, WithBody } from '../request-state.ts';

export type WithInput<Input> = { input: Input };

/** Parses the body by a schema. 422 names every fault. Comes after `readJson`. */
export function validateBody<Schema extends z.ZodType>(schema: Schema): Step<WithBody & WithInput<z.output<Schema>>> {
  return async (ctx, next) => {
    const parsed = schema.safeParse(ctx.state.body);
    if (!parsed.success) {
      const issues = parsed.error.issues.slice(0, maxFieldErrors);
      throw invalidRequest(issues.map(({ path, message }) => ({ path: fieldPath(path), message })));
    }
    ctx.state.input = parsed.data;
    await next();
  };
}
