import { distance } from 'fastest-levenshtein';
import { answer, type Context, type Step } from '../context.ts';
import { HttpError } from '../errors.ts';

const here = 'is not offered here; GET /api/v1/models';

/** Endpoints of the dialect's API that we have not, and what to do instead. Models may have a slash in their names. */
const notOffered: readonly (readonly [path: RegExp, sentence: string])[] = [
  [
    /^\/api\/v1\/models\/.+\/schema$/,
    `the schema of a model ${here} shows the limits of each, GET /openapi.json the fields of createTask`,
  ],
  [/^\/api\/v1\/models\/.+\/price$/, `the price of a model ${here} shows the credits per second of each`],
  [/^\/api\/v1\/models\/.+\/success-rate$/, `the success rate of a model ${here} shows the models there are`],
  [
    /^\/api\/file-(base64|stream|url)-upload$/,
    'uploads are not offered here; put an image where this service can fetch it, and give its http or https URL in ' +
      'input.reference_image_urls',
  ],
];

/** Runs when no route took the request: says plainly that an endpoint of the dialect's API is missing. */
export const refuseUnsupported: Step = async (ctx, next) => {
  const found = notOffered.find(([path]) => path.test(ctx.path));
  if (found !== undefined) throw new HttpError('unknown_endpoint', { msg: found[1] });
  await next();
};

export type Route = { readonly method: string; readonly path: string };

export type KnownRoutes = {
  /** The methods of the routes that a request's path fits and that its client may know of; none for an unknown path. */
  readonly methodsOf: (ctx: Context) => readonly string[];
  /** Every route of a fixed path. */
  readonly routes: readonly Route[];
};

/** Runs when no route took the request: 404, 405 with `Allow`, or the answer to OPTIONS. */
export function refuseUnknownRoutes({ methodsOf, routes }: KnownRoutes): Step {
  return (ctx) => {
    const methods = methodsOf(ctx);
    if (methods.length === 0) throw new HttpError('unknown_endpoint', { msg: noSuchRoute(ctx, routes) });
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
  const meant = nearestRoute(wrong, routes);
  const hint = meant === undefined ? '' : `; did you mean ${meant.method} ${meant.path}?`;
  const all = routes.some(({ path }) => path === '/docs') ? `${hint === '' ? ';' : ''} all endpoints: /docs` : '';
  return `no such endpoint${hint}${all}`;
}

const prefixes = ['/api/admin/v1', '/api/v1'] as const;

/**
 * The route that a wrong path was probably meant for: other letters, slashes too many, the prefix doubled or incomplete, a
 * typing error. Where a path has several methods the wanted one goes first.
 */
function nearestRoute(wrong: Route, routes: readonly Route[]): Route | undefined {
  const path = plainPath(wrong.path);
  if (path.length < 4 || path.length > 200) return undefined;
  const paths = [...new Set(routes.map((route) => route.path))];
  const meant = paths.find((known) => known.toLowerCase() === path) ?? withEnding(path, paths) ?? withTypo(path, paths);
  const candidates = routes.filter((route) => route.path === meant);
  return candidates.find(({ method }) => method === wrong.method) ?? candidates[0];
}

function plainPath(path: string): string {
  const plain = path.replaceAll(/\/+/g, '/').replace(/\/$/, '').toLowerCase();
  for (const prefix of prefixes) {
    // `https://host/api/v1` was taken for the base address of paths that begin with `/api/v1` themselves.
    if (plain.startsWith(prefix + prefix)) return plain.slice(prefix.length);
  }
  return plain;
}

/** `/v1/jobs/createtask` and `/createtask`, whose beginning is missing; only when no other path ends so. */
function withEnding(path: string, paths: readonly string[]): string | undefined {
  const fitting = paths.filter((known) => known.toLowerCase().endsWith(path));
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** As many wrong letters as a typing error makes, and no more than a fifth of the path. */
function withTypo(path: string, paths: readonly string[]): string | undefined {
  const ranked = paths
    .map((known) => ({ known, wrong: distance(path, known.toLowerCase()) }))
    .filter(({ known, wrong }) => wrong <= Math.min(3, known.length / 5))
    .toSorted((a, b) => a.wrong - b.wrong);
  return ranked[0]?.known;
}
