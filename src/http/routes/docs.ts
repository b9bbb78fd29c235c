import type { Router } from '@koa/router';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Extras, RequestState } from '../context.ts';
import type { HttpDeps } from '../http-deps.ts';
import { openApiDocument } from '../openapi.ts';
import { pageHeaders } from '../presenters/html-page.ts';
import { sendFile } from '../server/send-file.ts';

/** The only files that are given out: our own, and those of Swagger UI as npm delivered it. */
const files: Readonly<Record<string, string>> = {
  '/favicon.ico': '#assets/pages/favicon.png',
  '/docs': '#assets/pages/docs.html',
  '/docs/start.js': '#assets/pages/start.js',
  '/docs/page.css': '#assets/pages/page.css',
  '/docs/swagger-ui.css': 'swagger-ui-dist/swagger-ui.css',
  '/docs/swagger-ui-bundle.js': 'swagger-ui-dist/swagger-ui-bundle.js',
};

/** `GET /docs`: the description to read and to try out, complete without the internet. */
export function docsRoute(router: Router<RequestState, Extras>): void {
  for (const [route, name] of Object.entries(files)) {
    const file = fileURLToPath(import.meta.resolve(name));
    const isOurs = name.startsWith('#');
    router.get(route, async (ctx) => {
      ctx.set({ ...pageHeaders, 'Cache-Control': isOurs ? 'no-cache' : 'public, max-age=86400' });
      await sendFile(ctx, { root: dirname(file), path: basename(file) });
    });
  }
}

/** `GET /openapi.json`: the description of this very installation, with its models; no envelope around it. */
export function openApiRoute(router: Router<RequestState, Extras>, { models }: HttpDeps): void {
  let text: string | undefined;
  router.get('/openapi.json', (ctx) => {
    text ??= JSON.stringify(openApiDocument(models));
    ctx.set({ 'Content-Type': 'application/json', 'Cache-Control': 'no-cache', 'Access-Control-Allow-Origin': '*' });
    ctx.body = text;
  });
}
