import type { Target } from './address-rules.ts';

/** Where an http or https URL leads. */
export function targetOf(url: URL): Target {
  const hostname = url.hostname.replace(/^\[|\]$|\.+$/g, '');
  const defaultPort = url.protocol === 'https:' ? 443 : 80;
  return { hostname, port: url.port === '' ? defaultPort : Number(url.port) };
}
