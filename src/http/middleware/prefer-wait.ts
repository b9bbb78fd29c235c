import { z } from 'zod';
import type { Step } from '../request-state.ts';

/** What a held answer adds to the state: how long the client would wait, 0 when it did not ask to. */
export type WithWait = { waitSeconds: number };

/** A longer wait is shortened to this; the answer tells so in `Preference-Applied`. */
const maxWaitSeconds = 60;

/** For the description of an endpoint that can hold its answer. */
export const preferHeader = z.object({
  Prefer: z
    .string()
    .optional()
    // No example: /docs would fill it in, and whoever tries an operation out would sit and wait.
    .meta({
      description: `\`wait=N\` holds the answer until the task ends or N seconds (at most ${maxWaitSeconds}) have passed.`,
    }),
});

export const preferenceApplied = { 'Preference-Applied': '`wait=N` when the answer was held back as asked.' };

/** Reads `Prefer: wait=N` (RFC 7240, section 4.3); what cannot be understood is ignored, as preferences are. */
export const preferWait: Step<WithWait> = async (ctx, next) => {
  const seconds = /(?:^|,)\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i.exec(ctx.get('Prefer'))?.[1] ?? 0;
  ctx.state.waitSeconds = Math.min(maxWaitSeconds, Number(seconds));
  await next();
};
