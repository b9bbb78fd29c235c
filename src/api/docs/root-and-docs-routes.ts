import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addBrandRoutes } from '../brand/brand-routes.ts';
import type { WithModels } from '../../catalogue/models/model-type-and-name-lookup.ts';
import { answerEnvelope, type AppRouter } from '../core/request-context-and-responses.ts';
import { addClientArchiveRoutes } from './client-archives.ts';
import { docsHeaders, addDocsRoutes, type DocsDeps } from './docs-routes.ts';
import { llmsText } from './llms-text.ts';
import { openApiDocument } from '../openapi.ts';
import { sendFile } from '../core/server/send-file.ts';

/** Serves the documentation, its OpenAPI document and the icon; `/` redirects browsers to the console. */
export function addRootAndDocsRoutes(router: AppRouter, deps: DocsDeps): void {
  router.get('/', async (ctx) => {
    ctx.set('Vary', 'Accept');
    // Programs send `*/*`, which selects the first.
    if (ctx.accepts(['json', 'html']) !== 'html') {
      const data = { name: deps.brand.name, documentation: '/docs', openapi: '/openapi.json' };
      return answerEnvelope(ctx, { code: 200, msg: 'success', data });
    }
    ctx.redirect('/console');
  });
  const icon = fileURLToPath(import.meta.resolve('#assets/pages/favicon.png'));
  router.get('/favicon.ico', async (ctx) => {
    ctx.set({ ...docsHeaders, 'Cache-Control': 'no-cache' });
    await sendFile(ctx, { root: dirname(icon), path: basename(icon) });
  });
  addBrandRoutes(router, deps.brand);
  addDocsRoutes(router, deps);
  addClientArchiveRoutes(router, deps.publicUrl);
  router.get('/llms.txt', (ctx) => {
    ctx.set({ 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-cache' });
    ctx.body = llmsText(deps);
  });
  const texts = new WeakMap<WithModels, string>();
  router.get('/openapi.json', (ctx) => {
    const offer = deps.catalogue();
    const text = texts.get(offer) ?? JSON.stringify(openApiDocument(offer, deps.brand.name));
    texts.set(offer, text);
    ctx.set({ 'Content-Type': 'application/json', 'Cache-Control': 'no-cache', 'Access-Control-Allow-Origin': '*' });
    ctx.body = text;
  });
}
