import { z } from 'zod';

const withErrors = z.object({ errors: z.array(z.object({ path: z.string() })) });

/** The first field that an error of ours names; undefined if it names none. */
export function firstErrorField({ envelope }: { readonly envelope: { readonly data: unknown } }): string | undefined {
  const path = withErrors.safeParse(envelope.data).data?.errors[0]?.path;
  return path === '' ? undefined : path;
}
