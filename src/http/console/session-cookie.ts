import { isIP } from 'node:net';
import type { Context } from '../context.ts';

// The cookie of a session holds its secret and nothing else.

/** Browsers do not tell cookies of one host by their ports, so where only the port is ours it stands in the name. */
function nameFor(publicUrl: string): string {
  const { protocol, port } = new URL(publicUrl);
  return protocol === 'https:' ? '__Host-videogen' : `videogen_${port === '' ? '80' : port}`;
}

function cookie(name: string, publicUrl: string, value: string, maxAgeSeconds: number): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : '';
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`;
}

/** The secret that a browser sent; undefined without one, and empty where it sent two. */
export function sessionToken(ctx: Context, publicUrl: string): string | undefined {
  return valueOf(ctx, nameFor(publicUrl));
}

function valueOf(ctx: Context, cookieName: string): string | undefined {
  const name = `${cookieName}=`;
  const values = ctx
    .get('Cookie')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(name))
    .map((pair) => pair.slice(name.length));
  return values.length > 1 ? '' : values[0];
}

/** The browser forgets it when the session ends at the latest. */
export function giveCookie(ctx: Context, publicUrl: string, token: string, expiresAt: number): void {
  ctx.append(
    'Set-Cookie',
    cookie(nameFor(publicUrl), publicUrl, token, Math.max(1, Math.floor((expiresAt - Date.now()) / 1000))),
  );
}

/** Ties a visit to the identity provider to the browser that began it. */
const visitName = (publicUrl: string) => `${nameFor(publicUrl)}_visit`;
const visitSeconds = 600;

export function giveVisitCookie(ctx: Context, publicUrl: string, token: string): void {
  ctx.append('Set-Cookie', cookie(visitName(publicUrl), publicUrl, token, visitSeconds));
}

/** The secret of the visit that the browser comes back from, for the only time. */
export function takeVisitCookie(ctx: Context, publicUrl: string): string | undefined {
  const name = visitName(publicUrl);
  ctx.append('Set-Cookie', cookie(name, publicUrl, '', 0));
  return valueOf(ctx, name);
}

export function clearedCookie(publicUrl: string): string {
  return cookie(nameFor(publicUrl), publicUrl, '', 0);
}

/** Whether sessions travel unprotected over a network: plain http to another machine. */
export function isCookieExposed(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl);
  const host = hostname.replaceAll(/[[\]]/g, '');
  const isLoopback = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  return protocol === 'http:' && !isLoopback;
}
