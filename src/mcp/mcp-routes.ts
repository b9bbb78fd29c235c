import type { Authentication } from '../http/authentication.ts';
import { refuseForeignPage } from '../http/console/same-origin.ts';
import { type AppRouter, jsonHeaders } from '../http/context.ts';
import { withInlineFiles } from '../http/define-endpoint.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { maxInlineBytes } from '../http/server/read-fields.ts';
import { readJson } from '../http/server/read-json.ts';

/** The Model Context Protocol: stateless Streamable HTTP, so GET and DELETE, for sessions, are not allowed. */
export function mcpRoutes(router: AppRouter, deps: HttpDeps, authentication: Authentication): void {
  router.post('/mcp', async (ctx) => {
    refuseForeignPage(ctx, deps.console.publicUrl);
    // Authenticate before the body is read. The guards of its message
    // authenticate again, because a cached key may have been revoked.
    const { accountId } = authentication.cachedCaller(ctx) ?? (await authentication.client(ctx, null)).caller;
    await withInlineFiles(ctx, { deps, accountId }, async () => {
      const body = await readJson(ctx, maxInlineBytes);
      // Importing this module takes a third of a second, which the start of the
      // process must not wait for.
      const { answerMcp } = await import('./mcp-server.ts');
      const { status, contentType, text } = await answerMcp({ ctx, deps, authentication, body });
      ctx.body = text;
      ctx.status = status;
      ctx.set({ ...jsonHeaders, 'Content-Type': contentType ?? jsonHeaders['Content-Type'] });
    });
  });
}
