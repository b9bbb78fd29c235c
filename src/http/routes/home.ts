import type { Router } from '@koa/router';
import { isFromThisMachine } from '../client-address.ts';
import { answer, type Context, type Extras, type RequestState } from '../context.ts';
import type { HttpDeps } from '../http-deps.ts';
import { escapeHtml, showPage } from '../presenters/html-page.ts';

/** `GET /`: a page for a browser, the envelope for a program. */
export function homeRoute(
  router: Router<RequestState, Extras>,
  { temporalUiUrl }: Pick<HttpDeps, 'temporalUiUrl'>,
): void {
  router.get('/', (ctx) => {
    ctx.set('Vary', 'Accept');
    // `*/*`, which programs send, takes the first of these.
    if (ctx.accepts(['json', 'html']) !== 'html') {
      return answer(ctx, {
        code: 200,
        msg: 'success',
        data: { name: 'Videogen', documentation: '/docs', openapi: '/openapi.json' },
      });
    }
    showHome(ctx, isFromThisMachine(ctx.req) ? temporalUiUrl : undefined);
  });
}

type Link = readonly [href: string, name: string, what: string];

const links: readonly Link[] = [
  ['/docs', 'API reference', 'Every endpoint with its fields and errors; try them here with your key.'],
  ['/docs/readme', 'Getting started', 'A first request, callbacks, the command line and every setting.'],
  ['/docs/dialect-kie', 'Clients of kie.ai', 'What to set in a client that was written for the API of kie.ai.'],
  ['/docs/operations', 'Operating the service', 'Deployment, backups, upgrades and what to watch.'],
  ['/openapi.json', 'OpenAPI document', 'The same reference for generators and other programs.'],
];

function showHome(ctx: Context, temporalUiUrl: string | undefined): void {
  const all: readonly Link[] =
    temporalUiUrl === undefined
      ? links
      : [...links, [temporalUiUrl, 'Temporal UI', 'The workflow of each task; only reachable from this machine.']];
  const items = all.map(
    ([href, name, what]) => `<li><a href="${escapeHtml(href)}"><strong>${name}</strong><span>${what}</span></a></li>`,
  );
  const main = `<main class="home">
<h1><img src="/favicon.ico" alt="">Videogen</h1>
<p>Video generation by asynchronous, paid tasks. A task that fails is refunded in full.</p>
<ul>
${items.join('\n')}
</ul>
</main>`;
  showPage(ctx, { title: 'Videogen', main });
}
