import { distance } from 'fastest-levenshtein';
import { isFromThisMachine } from '../client-address.ts';
import { answer, type AppRouter, type Step } from '../context.ts';
import { HttpError } from '../errors.ts';

const models = 'is not offered here; GET /api/v1/models shows the';

/** Endpoints of the dialect's API that we have not, and what to do instead. Models may have a slash in their names. */
const notOffered: readonly (readonly [path: RegExp, sentence: string])[] = [
  [
    /^\/api\/v1\/models\/.+\/schema$/,
    `the schema of a model ${models} limits of each, GET /openapi.json the fields of createTask`,
  ],
  [/^\/api\/v1\/models\/.+\/price$/, `the price of a model ${models} credits per second of each`],
  [/^\/api\/v1\/models\/.+\/success-rate$/, `the success rate of a model ${models} models there are`],
  [
    /^\/api\/file-(base64|stream|url)-upload$/,
    'uploads are not offered here; give the http or https URL of an image in input.reference_image_urls',
  ],
];

/** Where clients of other video APIs create and query a video. They are told which endpoints do the same here. */
const otherApis: readonly RegExp[] = [
  /^(?:\/api)?\/v\d\/(?:videos?|generations|predictions|tasks)(?:\/.*)?$/,
  /^(?:\/api)?\/v\d\/(?:text|image)_to_(?:video|image)$/,
  /^(?:\/api)?\/v\d\/(?:images|chat|completions|responses)(?:\/.*)?$/,
  /^\/dream-machine\/v\d\/generations(?:\/.*)?$/,
  /^\/api\/v\d\/(?:contents\/generations\/tasks|services\/aigc\/.+)$/,
];
const ourApi = 'POST /api/v1/jobs/createTask creates a video, GET /api/v1/jobs/recordInfo queries it';

type Route = { readonly method: string; readonly path: string };

/** Runs when no route took the request: 404, 405 with `Allow`, or the answer to OPTIONS. `own` is for this machine alone. */
export function refuseUnknownRoutes(router: AppRouter, own?: AppRouter): Step {
  // Those of a fixed path; HEAD goes along with GET.
  const routes = router.stack.flatMap(({ path, methods }) =>
    typeof path === 'string' ? methods.filter((method) => method !== 'HEAD').map((method) => ({ method, path })) : [],
  );
  return (ctx) => {
    const visible = own !== undefined && isFromThisMachine(ctx.req) ? [router, own] : [router];
    const matching = visible.flatMap(({ stack }) => stack.filter((layer) => layer.match(ctx.path)));
    const methods = matching.flatMap((layer) => layer.methods);
    if (methods.length === 0) {
      const [, missing] = notOffered.find(([path]) => path.test(ctx.path)) ?? [];
      throw new HttpError('unknown_endpoint', { msg: missing ?? noSuchRoute(ctx, routes) });
    }
    const allow = [...new Set([...methods, 'OPTIONS'])].toSorted().join(', ');
    if (ctx.method !== 'OPTIONS') {
      const msg = `the method ${ctx.method} is not allowed; allowed: ${allow}`;
      throw new HttpError('method_not_allowed', { msg, headers: { Allow: allow } });
    }
    ctx.set({ Allow: allow });
    answer(ctx, { code: 200, msg: 'success', data: {} });
  };
}

function noSuchRoute(wrong: Route, routes: readonly Route[]): string {
  if (otherApis.some((path) => path.test(wrong.path))) return `no such endpoint; ${ourApi}; all endpoints: /docs`;
  const meant = nearestRoute(wrong, routes);
  const hint = meant === undefined ? '' : `; did you mean ${meant.method} ${meant.path}?`;
  const all = routes.some(({ path }) => path === '/docs') ? `${hint === '' ? ';' : ''} all endpoints: /docs` : '';
  return `no such endpoint${hint}${all}`;
}

/** The route that a wrong path was probably meant for. Where that path has several methods, the wanted one goes first. */
function nearestRoute(wrong: Route, routes: readonly Route[]): Route | undefined {
  const path = wrong.path.replaceAll(/\/+/g, '/').replace(/\/$/, '').toLowerCase();
  if (path.length < 4 || path.length > 200) return undefined;
  const near = routes
    .map((route) => ({ route, count: wrongLetters(path, route.path.toLowerCase()) }))
    // As many as a typing error makes, and no more than a fifth of the path.
    .filter(({ route, count }) => count <= Math.min(3, route.path.length / 5));
  const fewest = Math.min(...near.map(({ count }) => count));
  const meant = near.filter(({ count }) => count === fewest).map(({ route }) => route);
  if (new Set(meant.map((route) => route.path)).size !== 1) return undefined;
  return meant.find(({ method }) => method === wrong.method) ?? meant[0];
}

/** None when only the prefix is missing, incomplete or doubled, as in `/v1/jobs/createTask` or `/api/v1/api/v1/keys`. */
function wrongLetters(path: string, known: string): number {
  return known.endsWith(path) || path.endsWith(known) ? 0 : distance(path, known);
}
