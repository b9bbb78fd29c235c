import type { Context } from '../core/request-context-and-responses.ts';
import { HttpError } from '../core/http-error.ts';

// A browser also sends the cookie with requests from other pages. On loopback every port is the same site, where SameSite does not
// protect, so only requests from pages of the console are accepted.

/** Headers of each request from the console. Other origins would need a preflight response, which they never get. */
const consoleHeader = 'Videogen-Console';
export const accountHeader = 'Videogen-Account';

export function requireOwnPage(ctx: Context, publicUrl: string): void {
  requireOwnHost(ctx, publicUrl);
  if (!isOwnPage(ctx, publicUrl) || !hasConsoleHeader(ctx)) throw new HttpError('cross_site_request');
}

/**
 * Refuses links on pages of other sites. A browser follows a link without the console's headers, so what a link leads to changes nothing.
 */
export function refuseForeignLink(ctx: Context, publicUrl: string): void {
  requireOwnHost(ctx, publicUrl);
  // Browsers send `none` for a bookmark or a typed address.
  if (!['', 'none', 'same-origin'].includes(ctx.get('Sec-Fetch-Site'))) throw new HttpError('cross_site_request');
}

export function hasConsoleHeader(ctx: Context): boolean {
  return ctx.get(consoleHeader) !== '' || ctx.get(accountHeader) !== '';
}

/** Prevents DNS rebinding: a foreign name that resolves to this machine is rejected. */
export function requireOwnHost(ctx: Context, publicUrl: string): void {
  const host = ctx.get('Host').toLowerCase();
  const port = ctx.req.socket.localPort;
  const loopback = ['localhost', '127.0.0.1', '[::1]'].map((name) => `${name}:${port}`);
  if (host !== new URL(publicUrl).host && !loopback.includes(host)) throw new HttpError('misdirected_request');
}

/** Refuses pages of other origins, also if this service is reached under their host's name. Programs send no origin. */
export function refuseForeignPage(ctx: Context, publicUrl: string): void {
  const origin = ctx.get('Origin');
  if (origin === '' || origin === new URL(publicUrl).origin) return;
  throw new HttpError('cross_site_request', { msg: 'requests from pages of another origin are refused' });
}

function isOwnPage(ctx: Context, publicUrl: string): boolean {
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site === 'same-origin';
  // Browsers omit `Sec-Fetch-Site` over plain http to another machine, and old browsers always do.
  const origin = ctx.get('Origin');
  return origin === '' ? ctx.method === 'GET' : origin === new URL(publicUrl).origin;
}
