import type { Router } from '@koa/router';
import type { HttpDeps } from '../http-deps.ts';
import { openApiDocument } from '../openapi.ts';
import type { Extras, RequestState } from '../request-state.ts';

/** `GET /openapi.json`: the description of this very installation, with its models; no envelope around it. */
export function openApiRoute(router: Router<RequestState, Extras>, { models }: HttpDeps): void {
  let text: string | undefined;
  router.get('/openapi.json', (ctx) => {
    text ??= JSON.stringify(openApiDocument(models));
    ctx.set({ 'Content-Type': 'application/json', 'Cache-Control': 'no-cache', 'Access-Control-Allow-Origin': '*' });
    ctx.body = text;
  });
}
