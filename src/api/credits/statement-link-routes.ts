import { validate as isUuid } from 'uuid';
import { consoleHeaders } from '../console/console-headers.ts';
import { answerText, type AppRouter } from '../core/context.ts';
import { limitReads, type RateLimiter } from '../core/limits/rate-limits.ts';
import { findLinkVisitor, type SessionDeps } from '../sign-in/authenticate-session.ts';
import { type StatementDeps, statementFile, statementFormats } from './statement-routes.ts';

const address = /^\/console\/a\/([^/]+)\/statements\/(\d{4}-\d\d)\.(csv|html)$/;

type Deps = SessionDeps & StatementDeps & { readonly reads: RateLimiter | undefined };

/**
 * Statements at addresses below the account's pages, so that a browser opens them in a tab, prints and saves them. A visitor without
 * access gets the page of the console, which offers to sign in or explains what is missing.
 */
export function statementLinks(router: AppRouter, deps: Deps): void {
  router.get(address, async (ctx) => {
    const [, accountId = '', month = '', extension] = address.exec(ctx.path) ?? [];
    const visitor = isUuid(accountId) ? await findLinkVisitor(ctx, deps, accountId) : undefined;
    if (visitor === undefined) return ctx.redirect(`/console/a/${accountId}/credits?tab=statements`);
    limitReads(ctx, deps.reads, visitor.session.userId);
    ctx.set(consoleHeaders([]));
    const format = extension === 'csv' ? 'csv' : 'html';
    const file = await statementFile({ ctx, accountId, query: { month } }, deps, format);
    answerText(ctx, file, statementFormats[format].spec.contentType);
  });
}
