import type { Context } from '../context.ts';
import { HttpError } from '../errors.ts';

// A browser sends the cookie along with requests that other pages make. On loopback every port is one site, so SameSite
// protects nothing there: only requests of our own pages are let through.

/** Headers that the console sets on each call. Other origins cannot, for that needs an answer to a preflight that is never given. */
export const consoleHeader = 'Videogen-Console';
export const accountHeader = 'Videogen-Account';

/** Throws unless the request comes from a page of the console, at an address of ours. */
export function requireOwnPage(ctx: Context, publicUrl: string): void {
  requireOwnHost(ctx, publicUrl);
  if (!isOwnPage(ctx, publicUrl) || !hasConsoleHeader(ctx)) throw new HttpError('cross_site_request');
}

export function hasConsoleHeader(ctx: Context): boolean {
  return ctx.get(consoleHeader) !== '' || ctx.get(accountHeader) !== '';
}

/** A name that somebody points to this machine must not make their page one of ours: the name is not ours either. */
export function requireOwnHost(ctx: Context, publicUrl: string): void {
  const host = ctx.get('Host').toLowerCase();
  const port = ctx.req.socket.localPort;
  const loopback = ['localhost', '127.0.0.1', '[::1]'].map((name) => `${name}:${port}`);
  if (host !== new URL(publicUrl).host && !loopback.includes(host)) throw new HttpError('misdirected_request');
}

function isOwnPage(ctx: Context, publicUrl: string): boolean {
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site === 'same-origin';
  // Browsers leave it out over plain http to another machine; old ones always do.
  const origin = ctx.get('Origin');
  return origin === '' ? ctx.method === 'GET' : origin === new URL(publicUrl).origin;
}
