import type { HttpDeps } from './http-deps.ts';
import type { Context } from './request-state.ts';

/**
 * Holds the answer as `Prefer: wait=N` asked, and tells whether it was held. The hold ends early with the task, when the client
 * goes away, and when the service shuts down.
 */
export async function holdUntilEnd(
  ctx: Context,
  { taskEnds }: Pick<HttpDeps, 'taskEnds'>,
  { taskId, accountId, waitSeconds }: { taskId: string; accountId: string; waitSeconds: number },
): Promise<boolean> {
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
