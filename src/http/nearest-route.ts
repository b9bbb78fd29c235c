import { distance } from 'fastest-levenshtein';

export type Route = { readonly method: string; readonly path: string };

const prefixes = ['/api/admin/v1', '/api/v1'] as const;

/**
 * The route that a wrong path was probably meant for: other letters, slashes too many, the prefix doubled or incomplete, a
 * typing error. Where a path has several methods the wanted one goes first.
 */
export function nearestRoute(wrong: Route, routes: readonly Route[]): Route | undefined {
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
