/** Where the console's page may load media from beside its own origin: the public address, and the store of the results. */
export type MediaOrigins = readonly string[];

/** No inline code, no inline styles, no text that becomes markup; the page talks to this service alone. */
export function consoleHeaders(mediaOrigins: MediaOrigins): Readonly<Record<string, string>> {
  const media = ["'self'", ...mediaOrigins].join(' ');
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "font-src 'self'",
      "connect-src 'self'",
      `img-src ${media} data: blob:`,
      `media-src ${media}`,
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Frame-Options': 'DENY',
  };
}
