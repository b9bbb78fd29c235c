import type { Router } from '@koa/router';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { Extras, RequestState } from '../context.ts';
import type { HttpDeps } from '../http-deps.ts';
import { openApiDocument } from '../openapi.ts';
import { pageHeaders, pageStyle, showText } from '../presenters/html-page.ts';
import { sendFile } from '../server/send-file.ts';

/** Swagger UI as npm delivered it, beside this program's other packages. */
const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** The only files of it that are given out. */
const files = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
} as const;

/** `GET /docs`: the description to read and to try out, complete without the internet. */
export function docsRoute(router: Router<RequestState, Extras>): void {
  router.get('/docs', (ctx) => showText(ctx, 'text/html; charset=utf-8', page));
  router.get('/docs/start.js', (ctx) => showText(ctx, 'text/javascript; charset=utf-8', startScript));
  router.get('/docs/page.css', (ctx) => showText(ctx, 'text/css; charset=utf-8', pageStyle));
  for (const [name, contentType] of Object.entries(files)) {
    router.get(`/docs/${name}`, async (ctx) => {
      ctx.set({ ...pageHeaders, 'Content-Type': contentType, 'Cache-Control': 'public, max-age=86400' });
      await sendFile(ctx, { root: folder, path: name });
    });
  }
}

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Videogen API</title>
    <link rel="icon" href="/favicon.ico">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/page.css">
    <script src="/docs/swagger-ui-bundle.js" defer></script>
    <script src="/docs/start.js" defer></script>
  </head>
  <body>
    <nav class="wide"><a href="/">Videogen</a> · <a href="/docs/readme">Getting started</a> · <a href="/docs/dialect-kie">Clients of kie.ai</a></nav>
    <main id="docs"><noscript>This page needs JavaScript; the description itself is at <a href="/openapi.json">/openapi.json</a>.</noscript></main>
  </body>
</html>
`;

// Keys are kept in the tab's session storage: they survive a reload and are gone with the tab. The licence is shown by its
// SPDX identifier, for which Swagger UI would make a link that leads nowhere.
const startScript = `const storageKey = 'videogen-keys';
const keys = JSON.parse(sessionStorage.getItem(storageKey) ?? '{}');
const keep = () => sessionStorage.setItem(storageKey, JSON.stringify(keys));

const dark = matchMedia('(prefers-color-scheme: dark)');
const applyTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', applyTheme);
applyTheme();

const focusFirstKey = () => document.querySelector('.modal-ux .auth-container input')?.focus();

const keptKeys = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorize: (authorize) => (given) => {
          for (const [name, { value }] of Object.entries(given)) keys[name] = value;
          keep();
          return authorize(given);
        },
        logout: (logout) => (names) => {
          for (const name of names) delete keys[name];
          keep();
          return logout(names);
        },
        showDefinitions: (showDefinitions) => (definitions) => {
          setTimeout(focusFirstKey);
          return showDefinitions(definitions);
        },
      },
    },
  },
});

const noLicenceLink = () => ({ wrapComponents: { OAS31License: () => () => null } });

const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  tryItOutEnabled: true,
  persistAuthorization: false,
  displayRequestDuration: true,
  validatorUrl: null,
  plugins: [keptKeys, noLicenceLink],
  onComplete: () => {
    for (const [name, key] of Object.entries(keys)) ui.preauthorizeApiKey(name, key);
  },
});
`;

/** `GET /openapi.json`: the description of this very installation, with its models; no envelope around it. */
export function openApiRoute(router: Router<RequestState, Extras>, { models }: HttpDeps): void {
  let text: string | undefined;
  router.get('/openapi.json', (ctx) => {
    text ??= JSON.stringify(openApiDocument(models));
    ctx.set({ 'Content-Type': 'application/json', 'Cache-Control': 'no-cache', 'Access-Control-Allow-Origin': '*' });
    ctx.body = text;
  });
}
