import { z } from 'zod';

/** A text that a person wrote: 1 to `maxLength` characters, not only white space, nothing that a line cannot show. */
export function plainText(maxLength: number) {
  const error = `must be 1 to ${maxLength} characters, and plain text`;
  return z
    .string({ error: ({ input }) => (input === undefined ? 'is required' : error) })
    .min(1, { error })
    .max(maxLength, { error })
    .refine((text) => /\S/.test(text) && !/[\p{Cc}\p{Cs}]/u.test(text), { error });
}
