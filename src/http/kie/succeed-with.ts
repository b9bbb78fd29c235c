import { jsonHeaders } from '../envelope.ts';
import type { Context } from '../request-state.ts';

/** Answers 200 with `data`, which in this dialect need not be an object. */
export function succeedWith(ctx: Context, data: string | number): void {
  ctx.status = 200;
  ctx.set(jsonHeaders);
  ctx.body = JSON.stringify({ code: 200, msg: 'success', data });
}
