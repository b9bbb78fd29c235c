import { distance } from 'fastest-levenshtein';
import { isNotOffered, findMeantApi, errorShapeOfPath } from '../../dialects/shapes.ts';
import { isFromThisMachine } from '../client-address.ts';
import { answerEnvelope, type AppRouter, type AppMiddleware } from '../request-context-and-responses.ts';
import { HttpError } from '../http-error.ts';

/** Endpoints of kie.ai's API that this service does not have. Names of models may contain a slash. */
const notOffered: readonly (readonly [path: RegExp, msg: string])[] = [
  [
    /^\/api\/v1\/models\/.+\/(?:schema|price|success-rate)$/,
    'not offered here; GET /api/v1/models lists models with their prices and limits',
  ],
  [
    /^\/api\/file-(?:base64|stream|url)-upload$/,
    'not offered here; pass the http or https URL of an image in input.reference_image_urls',
  ],
];

/** Paths of other video APIs. Those that this service speaks have endpoints of their own. */
const otherApis =
  /^(?:\/dream-machine|\/api)?\/v\d\/(?:videos?|generations|predictions|tasks|images|chat|completions|responses|services\/aigc|(?:text|image)_to_(?:video|image))(?:\/.*)?$/;

/** Paths of other gateways that clients of OpenAI have. */
const otherCreates = /^\/v\d\/video\/(?:generations?|create|query)(?:\/|$)/;

type Route = { readonly method: string; readonly path: string };

/** Answers requests that no route took: 501, 404, 405 with `Allow`, or OPTIONS. `local` routes are for loopback clients only. */
export function refuseUnknownRoutes(router: AppRouter, local: AppRouter | undefined, publicUrl: string): AppMiddleware {
  const routes = router.stack.flatMap(({ path, methods }) =>
    typeof path === 'string' ? methods.filter((method) => method !== 'HEAD').map((method) => ({ method, path })) : [],
  );
  return (ctx) => {
    if (isNotOffered(ctx.method, ctx.path)) throw new HttpError('not_offered');
    const visible = local !== undefined && isFromThisMachine(ctx.req) ? [router, local] : [router];
    const methods = visible
      .flatMap(({ stack }) => stack.filter((layer) => layer.match(ctx.path)))
      .flatMap((layer) => layer.methods);
    if (methods.length === 0) throw new HttpError('unknown_endpoint', { msg: explainUnknown(ctx, routes, publicUrl) });
    const allow = [...new Set([...methods, 'OPTIONS'])].toSorted().join(', ');
    if (ctx.method !== 'OPTIONS') {
      const msg = `method ${ctx.method} not allowed; allowed: ${allow}`;
      throw new HttpError('method_not_allowed', { msg, headers: { Allow: allow } });
    }
    ctx.set({ Allow: allow });
    answerEnvelope(ctx, { code: 200, msg: 'success', data: {} });
  };
}

/** Paths of clients of the Model Context Protocol with a wrong URL. */
const mcpPath = /^(?:\/(?:api\/)?v\d|\/api)*(?:\/(?:mcp|sse|messages))+\/?$/;

/** The base URL that the client probably needs; undefined without a guess. */
function otherBaseUrl({ path }: Route, publicUrl: string): string | undefined {
  if (mcpPath.test(path)) return `the URL for MCP is ${publicUrl}/mcp`;
  const meant = findMeantApi(path, publicUrl);
  return meant && `set the base URL of this client to ${meant.baseUrl}`;
}

/** Paths of our own API behind another prefix. */
const misplaced = /^(?!\/*api\/+v1\/+jobs\/).*\/jobs\/(?:createTask|recordInfo)\/?$/;

function explainUnknown(request: Route, routes: readonly Route[], publicUrl: string): string {
  const [, missing] = notOffered.find(([path]) => path.test(request.path)) ?? [];
  if (missing !== undefined) return missing;
  const hints = ['unknown endpoint'];
  const meant = nearestRoute(request, routes);
  const baseUrl = publicUrl === '' ? undefined : otherBaseUrl(request, publicUrl);
  if (baseUrl !== undefined) hints.push(baseUrl);
  else if (otherApis.test(request.path) && errorShapeOfPath(request.path) === undefined)
    hints.push('POST /api/v1/jobs/createTask creates a video, GET /api/v1/jobs/recordInfo queries it');
  else if (otherCreates.test(request.path)) hints.push('POST /v1/videos creates a video, GET /v1/videos/ID queries it');
  else if (meant !== undefined) hints.push(`did you mean ${meant.method} ${meant.path}`);
  if (publicUrl !== '' && misplaced.test(request.path)) hints.push(`set the base URL of this client to ${publicUrl}`);
  // The port for metrics has no documentation.
  if (routes.some(({ path }) => path === '/docs')) hints.push('all endpoints: /docs');
  return hints.join('; ');
}

/** Undefined if several paths are equally near. Prefers a route with the method of the request. */
function nearestRoute(request: Route, routes: readonly Route[]): Route | undefined {
  const path = request.path.replaceAll(/\/+/g, '/').replace(/\/$/, '').toLowerCase();
  if (path.length < 4 || path.length > 200) return undefined;
  const near = routes
    // Customers never mean the API of operators.
    .filter((route) => !route.path.startsWith(adminPath) || path.startsWith(adminPath))
    .map((route) => ({ route, typos: countTypos(path, route.path.toLowerCase()) }))
    .filter(({ route, typos }) => typos <= Math.min(3, route.path.length / 5));
  const fewest = Math.min(...near.map(({ typos }) => typos));
  const nearest = near.filter(({ typos }) => typos === fewest).map(({ route }) => route);
  if (new Set(nearest.map((route) => route.path)).size !== 1) return undefined;
  return nearest.find(({ method }) => method === request.method) ?? nearest[0];
}

const adminPath = '/api/admin/';

/**
 * A missing, incomplete or doubled prefix is no typo: `/v1/jobs/createTask`, `/api/v1/api/v1/keys`; a missing folder, as in
 * `/api/v1/createTask`, counts as two. A slash at the end counts as none.
 */
function countTypos(path: string, known: string): number {
  if (path === known) return -1;
  if (known.endsWith(path) || path.endsWith(known)) return 0;
  const [lastOfPath = '', lastOfKnown = ''] = [path.split('/').at(-1), known.split('/').at(-1)];
  const isSameName = lastOfPath.length >= 5 && lastOfPath === lastOfKnown;
  return isSameName ? Math.min(2, distance(path, known)) : distance(path, known);
}
