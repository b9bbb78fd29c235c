import type { Context } from '../context.ts';

/** Nothing from elsewhere, nothing inline but styles, which Swagger UI sets on its elements; calls only to this service. */
export const pageHeaders = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
};

/** Answers with a text that belongs to a page. */
export function showText(ctx: Context, contentType: string, text: string): void {
  ctx.set({ ...pageHeaders, 'Content-Type': contentType, 'Cache-Control': 'no-cache' });
  ctx.body = text;
}

/** Answers with a page; `main` is HTML. */
export function showPage(ctx: Context, { title, main }: { readonly title: string; readonly main: string }): void {
  showText(
    ctx,
    'text/html; charset=utf-8',
    `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="icon" href="/favicon.ico">
    <link rel="stylesheet" href="/docs/page.css">
  </head>
  <body>
${main}
  </body>
</html>
`,
  );
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The style of our own pages, and of what surrounds Swagger UI. */
export const pageStyle = `:root {
  color-scheme: light dark;
  --back: #fff; --text: #1d2330; --faint: #566074; --line: #d9dee8; --raised: #f5f7fa; --accent: #2456d6;
}
@media (prefers-color-scheme: dark) {
  :root { --back: #14171c; --text: #e6e9ef; --faint: #a3adbd; --line: #333a46; --raised: #1d2229; --accent: #8fb0ff; }
}
html { background: var(--back); }
body { margin: 0; color: var(--text); font: 16px/1.6 system-ui, sans-serif; }
a { color: var(--accent); }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
body > nav, .document, .home { max-width: 46rem; margin: 0 auto; padding: 0 1.25rem; }
body > nav { padding-top: 1rem; font-size: .9rem; }
body > nav.wide { max-width: 1460px; }
.document, .home { padding-top: 2.5rem; padding-bottom: 4rem; }
.document h1, .home h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .75rem; }
.document h2 { font-size: 1.35rem; line-height: 1.3; margin: 2.25rem 0 .5rem; }
.document h3 { margin: 1.75rem 0 .5rem; }
.document code, .document pre { font: .875em/1.5 ui-monospace, monospace; background: var(--raised); border-radius: 4px; }
.document code { padding: .1em .3em; overflow-wrap: anywhere; }
.document pre { padding: .9rem 1rem; border: 1px solid var(--line); overflow-x: auto; }
.document pre code { padding: 0; background: none; font-size: 1em; overflow-wrap: normal; }
.document td code { overflow-wrap: normal; }
.document .table { overflow-x: auto; }
.document table { border-collapse: collapse; font-size: .9rem; }
.document th, .document td { border-bottom: 1px solid var(--line); padding: .45rem .75rem .45rem 0; text-align: left;
  vertical-align: top; }
.document summary { cursor: pointer; }
.home > p { color: var(--faint); font-size: 1.1rem; margin: 0 0 1.75rem; }
.home h1 img { width: 32px; height: 32px; margin-right: .6rem; vertical-align: -4px; }
.home ul { list-style: none; margin: 0; padding: 0; display: grid; gap: .75rem; }
.home li a { display: block; padding: .9rem 1.1rem; border: 1px solid var(--line); border-radius: 8px;
  background: var(--raised); text-decoration: none; }
.home li a:hover { border-color: var(--accent); }
.home li strong { display: block; }
.home li span { color: var(--faint); font-size: .95rem; }
`;
