import type { Authentication } from '../core/authentication.ts';
import { refuseForeignPage } from '../console/same-origin.ts';
import { type AppRouter, type Context, noStoreJsonHeaders } from '../core/request-context-and-responses.ts';
import { withLargeBodySlot } from '../core/define-endpoint.ts';
import { type HttpError } from '../core/http-error.ts';
import { replaceIfDiskIsFull, toHttpError } from '../core/to-http-error.ts';
import { logError } from '../core/middleware/answer-errors.ts';
import { maxInlineBytes } from '../core/server/read-json-or-multipart.ts';
import { readJson } from '../core/server/read-or-save-body-within-limits.ts';
import type { McpServerDeps } from './mcp-server.ts';
import type { ToolNeeds } from './mcp-tools.ts';

type Message = Readonly<Record<string, unknown>>;

export type McpDeps = McpServerDeps & ToolNeeds & { readonly diskProblem: () => string | undefined };

/** The Model Context Protocol: stateless Streamable HTTP, so GET and DELETE, for sessions, are not allowed. */
export function addMcpRoute(router: AppRouter, deps: McpDeps, authentication: Authentication): void {
  router.post(['/mcp', '/mcp/'], async (ctx) => {
    let message: Message | undefined;
    try {
      refuseForeignPage(ctx, deps.console.publicUrl);
      // Authenticate before the body is read. The guards of its message read the key again, because a cached one may have been revoked; for a
      // create, the accept statement does.
      const { caller } = authentication.cachedIdentity(ctx) ?? (await authentication.identifyKey(ctx));
      await withLargeBodySlot(ctx, { deps, accountId: caller.accountId }, async () => {
        message = await readJson(ctx, maxInlineBytes);
        // Importing this module takes a third of a second, which the start of the process must not wait for.
        const { answerMcp } = await import('./mcp-server.ts');
        const { status, contentType, text } = await answerMcp({ ctx, deps, authentication, body: message });
        ctx.body = text;
        ctx.status = status;
        ctx.set({ ...noStoreJsonHeaders, 'Content-Type': contentType ?? noStoreJsonHeaders['Content-Type'] });
      });
    } catch (thrown) {
      const error = replaceIfDiskIsFull(toHttpError(thrown), deps.diskProblem());
      ctx.state.errorCode = error.code;
      logError(ctx, error, deps.log);
      answerError(ctx, error, idOf(message ?? (await readSmall(ctx))));
    }
  });
}

const maxRefusedBytes = 64 * 1024;

/** Clients show the reason only if it has the id of their message. A stranger may send a small one. */
async function readSmall(ctx: Context): Promise<Message | undefined> {
  const bytes = Number(ctx.get('Content-Length') || Infinity);
  if (ctx.req.readableDidRead || bytes > maxRefusedBytes) return undefined;
  return readJson(ctx, maxRefusedBytes).catch(() => undefined);
}

function idOf(message: Message | undefined): string | number | null {
  const id = message?.['id'];
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** The protocol leaves this range of codes to servers. */
const serverError = -32_000;

function answerError(ctx: Context, { code, envelope, headers }: HttpError, id: string | number | null): void {
  const error = { code: serverError, message: `${code}: ${envelope.msg}`, data: { error: code, data: envelope.data } };
  ctx.status = envelope.code;
  ctx.body = JSON.stringify({ jsonrpc: '2.0', id, error });
  ctx.set({ ...noStoreJsonHeaders, ...headers });
}
