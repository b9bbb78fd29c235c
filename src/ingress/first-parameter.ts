import { z } from 'zod';
import type { HttpError } from '../http/errors.ts';

const withErrors = z.object({ errors: z.array(z.object({ path: z.string() })) });

/** The first field that a refusal names; undefined for any other error. */
export function firstParameter({ envelope }: HttpError): string | undefined {
  const path = withErrors.safeParse(envelope.data).data?.errors[0]?.path;
  return path === '' ? undefined : path;
}
