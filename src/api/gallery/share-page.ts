import { buildScriptlessPolicy } from '../console/console-headers.ts';
import { type Html, html, trustedHtml } from '../docs/html.ts';

// The pages of share links: HTML without scripts. Their policy allows one style, by its hash, and the media of this service.

const style = `
:root { color-scheme: light dark }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: grid; place-items: center; padding: 16px;
  font: 400 15px/1.5 system-ui, -apple-system, 'Segoe UI', sans-serif; overflow-wrap: anywhere;
  color: light-dark(#171c26, #e9ecf1); background: light-dark(#f7f8fa, #0b0d10) }
main { display: grid; gap: 12px; justify-items: center; width: 100%; max-width: 1120px }
h1 { margin: 0; font-size: 20px; font-weight: 620; line-height: 1.3; text-align: center }
p { margin: 0; text-align: center; color: light-dark(#4c5666, #adb6c3) }
video { max-width: 100%; width: auto; height: auto; max-height: 80vh; background: #000; border-radius: 11px }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
`;

/** `mediaOrigins`: other origins that the links to media lead to. */
export function sharePageHeaders(mediaOrigins: readonly string[]): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': buildScriptlessPolicy(style, ["'self'", ...mediaOrigins]),
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex, nofollow',
    'X-Frame-Options': 'DENY',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
    'Content-Type': 'text/html; charset=utf-8',
  };
}

type Page = {
  readonly title: string | undefined;
  readonly accountName: string | undefined;
  readonly videoUrl: string;
  readonly posterUrl: string;
  readonly widthPx: number;
  readonly heightPx: number;
};

export function sharePageHtml({ title, accountName, videoUrl, posterUrl, widthPx, heightPx }: Page): string {
  return framed(
    title ?? 'Shared video',
    html`<video
        controls
        playsinline
        preload="metadata"
        aria-label="${title ?? 'Shared video'}"
        width="${widthPx}"
        height="${heightPx}"
        poster="${posterUrl}"
        src="${videoUrl}"
      ></video>
      <h1${title === undefined && trustedHtml(' class="hidden"')}>${title ?? 'Shared video'}</h1>
      ${accountName !== undefined && html`<p>Shared by ${accountName}</p>`}`,
  );
}

/** The same for every link that shows nothing, so that the page does not reveal the reason. */
export const missingVideoPage = framed(
  'Video not available',
  html`<h1>This video isn’t available</h1>
    <p>The link may be incomplete, or it has expired.</p>`,
);

export const tooManyRequestsPage = framed(
  'Too many requests',
  html`<h1>Too many requests</h1>
    <p>Reload this page in a minute.</p>`,
);

function framed(title: string, content: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        ${trustedHtml(`<style>${style}</style>`)}
      </head>
      <body>
        <main>${content}</main>
      </body>
    </html>`.html;
}
