import { z } from 'zod';
import type { HttpDeps } from './http-deps.ts';
import type { Context } from './request-state.ts';

/** A longer wait is shortened to this; the answer tells so in `Preference-Applied`. */
const maxWaitSeconds = 60;

/** Documents an endpoint that can hold its answer. */
export const preferHeader = z.object({
  Prefer: z
    .string()
    .optional()
    // No example: /docs would fill it in, and a person who tries the operation out would sit and wait.
    .meta({
      description: `\`wait=N\` holds the answer until the task ends or N seconds (at most ${maxWaitSeconds}) have passed.`,
    }),
});

export const preferenceApplied = { 'Preference-Applied': '`wait=N` when the answer was held back as asked.' };

/**
 * Holds the answer as `Prefer: wait=N` asks (RFC 7240, section 4.3), and tells whether it was held. The hold ends early with the
 * task, when the client goes away, and when the service shuts down. What cannot be understood is ignored, as preferences are.
 */
export async function holdUntilEnd(
  ctx: Context,
  { taskEnds }: Pick<HttpDeps, 'taskEnds'>,
  { taskId, accountId }: { readonly taskId: string; readonly accountId: string },
): Promise<boolean> {
  const asked = /(?:^|,)\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i.exec(ctx.get('Prefer'))?.[1] ?? 0;
  const waitSeconds = Math.min(maxWaitSeconds, Number(asked));
  if (waitSeconds === 0) return false;
  const gone = new AbortController();
  const leave = () => gone.abort();
  ctx.res.once('close', leave);
  const held = taskEnds.wait({ taskId, accountId, waitMs: waitSeconds * 1000, signal: gone.signal });
  await held;
  ctx.res.off('close', leave);
  if (held === undefined) return false;
  ctx.set('Preference-Applied', `wait=${waitSeconds}`);
  return true;
}
