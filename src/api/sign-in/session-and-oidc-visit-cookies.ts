import { isIP } from 'node:net';
import type { SessionWithToken } from '../../accounts/sign-in/sessions.ts';
import type { Context } from '../core/request-context-and-responses.ts';

/** Cookies of a host are shared by all its ports, so over plain http the name contains the port. */
function nameFor(publicUrl: string): string {
  const { protocol, port } = new URL(publicUrl);
  return protocol === 'https:' ? '__Host-videogen' : `videogen_${port === '' ? '80' : port}`;
}

function cookie(name: string, publicUrl: string, value: string, maxAgeSeconds: number): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : '';
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`;
}

/** The secret of the session; undefined without a cookie, and empty for two of the same name. */
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

export function setSessionCookie(ctx: Context, publicUrl: string, { token, session }: SessionWithToken): void {
  const maxAgeSeconds = Math.max(1, Math.floor((session.expiresAt - Date.now()) / 1000));
  ctx.append('Set-Cookie', cookie(nameFor(publicUrl), publicUrl, token, maxAgeSeconds));
}

const visitName = (publicUrl: string) => `${nameFor(publicUrl)}_visit`;
const visitSeconds = 600;

/** Binds a visit to the identity provider to the browser that began it. */
export function setOidcVisitCookie(ctx: Context, publicUrl: string, token: string): void {
  ctx.append('Set-Cookie', cookie(visitName(publicUrl), publicUrl, token, visitSeconds));
}

/** The secret of the visit. Clears the cookie, because a visit ends once. */
export function takeOidcVisitCookie(ctx: Context, publicUrl: string): string | undefined {
  const name = visitName(publicUrl);
  ctx.append('Set-Cookie', cookie(name, publicUrl, '', 0));
  return valueOf(ctx, name);
}

export function clearedSessionCookie(publicUrl: string): string {
  return cookie(nameFor(publicUrl), publicUrl, '', 0);
}

/** Over plain http to another machine, the network can read sessions. */
export function isCookieExposed(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl);
  const host = hostname.replaceAll(/[[\]]/g, '');
  const isLoopback = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  return protocol === 'http:' && !isLoopback;
}
