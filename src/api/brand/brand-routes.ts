import { buildConsoleHeaders } from '../console/console-headers.ts';
import type { AppRouter, Context } from '../core/request-context-and-responses.ts';
import { HttpError } from '../core/http-error.ts';
import { accentStyle } from '../../platform/brand/accent.ts';
import type { Brand } from '../../platform/brand/brand.ts';

/** Short, because during a change of the settings an old process may answer for a new address. */
const cacheControl = 'public, max-age=300';

export function addBrandRoutes(router: AppRouter, { logo, accent }: Brand): void {
  const send = (ctx: Context, type: string, body: Buffer | string | undefined) => {
    if (body === undefined) throw new HttpError('unknown_endpoint');
    ctx.set({ ...buildConsoleHeaders([]), 'Content-Type': type, 'Cache-Control': cacheControl });
    ctx.body = body;
  };
  router.get('/brand/logo', (ctx) => send(ctx, logo?.type ?? '', logo?.bytes));
  router.get('/brand/colors.css', (ctx) => send(ctx, 'text/css; charset=utf-8', accent && accentStyle(accent)));
}
