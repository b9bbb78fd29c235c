import type { Router } from '@koa/router';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { Context, Extras, RequestState } from '../request-state.ts';
import { sendFile } from '../send-file.ts';

/** Swagger UI as npm delivered it, beside this program's other packages. */
const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** The only files of it that are given out. */
const files = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;

/** `GET /docs`: the description to read and to try out, complete without the internet. */
export function docsRoute(router: Router<RequestState, Extras>): void {
  router.get('/docs', (ctx) => show(ctx, 'text/html; charset=utf-8', page));
  router.get('/docs/start.js', (ctx) => show(ctx, 'text/javascript; charset=utf-8', startScript));
  for (const [name, contentType] of Object.entries(files)) {
    router.get(`/docs/${name}`, async (ctx) => {
      ctx.set({ ...headers, 'Content-Type': contentType, 'Cache-Control': 'public, max-age=86400' });
      await sendFile(ctx, { root: folder, path: name });
    });
  }
}

function show(ctx: Context, contentType: string, text: string): void {
  ctx.set({ ...headers, 'Content-Type': contentType, 'Cache-Control': 'no-cache' });
  ctx.body = text;
}

/** Nothing from elsewhere, nothing inline but styles, which Swagger UI sets on its elements; calls only to this service. */
const headers = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
};

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Videogen API</title>
    <link rel="icon" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <script src="/docs/swagger-ui-bundle.js" defer></script>
    <script src="/docs/start.js" defer></script>
  </head>
  <body>
    <main id="docs"><noscript>This page needs JavaScript; the description itself is at <a href="/openapi.json">/openapi.json</a>.</noscript></main>
  </body>
</html>
`;

// The key stays in the page's memory: it is gone with the tab.
const startScript = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  tryItOutEnabled: true,
  persistAuthorization: false,
  displayRequestDuration: true,
  validatorUrl: null,
});
`;
