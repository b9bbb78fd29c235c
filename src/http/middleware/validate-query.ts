import type { z } from 'zod';
import { fieldPath, maxFieldErrors } from '../../domain/field-errors.ts';
import { invalidRequest } from '../invalid-request.ts';
import { isPlainText, notPlainText } from '../../domain/task-request.ts';
import type { Step, WithQuery } from '../request-state.ts';

/** Parses the query by a schema; a parameter that is given twice reaches it as an array. 422 names every fault. */
export function validateQuery<Schema extends z.ZodType>(schema: Schema): Step<WithQuery<z.output<Schema>>> {
  return async (ctx, next) => {
    const query = new URLSearchParams(ctx.querystring);
    const unfit = [...query].filter((pair) => !pair.every(isPlainText));
    if (unfit.length > 0)
      throw invalidRequest(
        unfit.slice(0, maxFieldErrors).map(([name]) => ({ path: fieldPath([name]), message: notPlainText })),
      );
    const parsed = schema.safeParse(queryObject(query));
    if (!parsed.success) {
      const issues = parsed.error.issues.slice(0, maxFieldErrors);
      throw invalidRequest(issues.map(({ path, message }) => ({ path: fieldPath(path), message })));
    }
    ctx.state.query = parsed.data;
    await next();
  };
}

function queryObject(query: URLSearchParams): Readonly<Record<string, unknown>> {
  const names = [...new Set(query.keys())];
  return Object.fromEntries(names.map((name) => [name, oneOrAll(query.getAll(name))]));
}

function oneOrAll(values: readonly string[]): unknown {
  return values.length === 1 ? values[0] : values;
}
