import type { Router } from '@koa/router';
import { isFromThisMachine } from '../client-address.ts';
import { answer, type Extras, type RequestState } from '../context.ts';
import type { HttpDeps } from '../http-deps.ts';
import { escapeHtml, showPage } from '../presenters/html-page.ts';

/** `GET /`: a page for a browser, the envelope for a program. */
export function homeRoute(
  router: Router<RequestState, Extras>,
  { temporalUiUrl }: Pick<HttpDeps, 'temporalUiUrl'>,
): void {
  router.get('/', async (ctx) => {
    ctx.set('Vary', 'Accept');
    // `*/*`, which programs send, takes the first of these.
    if (ctx.accepts(['json', 'html']) !== 'html') {
      const data = { name: 'Videogen', documentation: '/docs', openapi: '/openapi.json' };
      return answer(ctx, { code: 200, msg: 'success', data });
    }
    const isOwn = temporalUiUrl !== undefined && isFromThisMachine(ctx.req);
    await showPage(ctx, 'home', { ownLinks: isOwn ? temporalLink(temporalUiUrl) : '' });
  });
}

function temporalLink(url: string): string {
  const what = 'The workflow of each task; only reachable from this machine.';
  return `<li><a href="${escapeHtml(url)}"><strong>Temporal UI</strong><span>${what}</span></a></li>`;
}
