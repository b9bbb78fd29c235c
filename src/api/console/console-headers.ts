import { hash } from 'node:crypto';

/**
 * Forbids inline code, inline styles, text as markup, and requests to other services. `mediaOrigins` are other origins from which the page
 * loads media: the public address and the result store.
 */
export function buildConsoleHeaders(mediaOrigins: readonly string[]): Readonly<Record<string, string>> {
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

/** Forbids everything but `style` and media: for pages that consist of one document. */
export function buildScriptlessPolicy(style: string, mediaOrigins: readonly string[] = []): string {
  const media =
    mediaOrigins.length === 0 ? [] : [`img-src ${mediaOrigins.join(' ')}`, `media-src ${mediaOrigins.join(' ')}`];
  return [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
    ...media,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
