import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Offer } from '../models/model.ts';
import { answer, type AppRouter, type Context } from './context.ts';
import { HttpError } from './errors.ts';
import type { HttpDeps } from './http-deps.ts';
import { openApiDocument } from './openapi.ts';
import { sendFile } from './server/send-file.ts';

/** Swagger UI needs inline styles. */
const pageHeaders = {
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

/** The only files that are served. */
const files: Readonly<Record<string, string>> = {
  '/favicon.ico': '#assets/pages/favicon.png',
  '/docs/reference': '#assets/pages/docs.html',
  '/docs/start.js': '#assets/pages/start.js',
  '/docs/page.css': '#assets/pages/page.css',
  '/docs/console.png': '#docs/console.png',
  '/docs/swagger-ui.css': 'swagger-ui-dist/swagger-ui.css',
  '/docs/swagger-ui-bundle.js': 'swagger-ui-dist/swagger-ui-bundle.js',
};

const readme = new URL(import.meta.resolve('#readme'));

/** Routes by path in the package. */
const documents: ReadonlyMap<string, string> = new Map(
  ['README.md', ...docsFiles()].map((path) => [path, routeOf(path)]),
);

/** An installation may omit documents. */
function docsFiles(): readonly string[] {
  const folder = new URL('docs/', readme);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`);
}

function routeOf(path: string): string {
  return path === 'README.md' ? '/docs/readme' : `/${path.replace(/(?:\/README)?\.md$/, '')}`;
}

const firstDocument = 'docs/api.md';

/** Serves the API reference and the documents, without internet access; `/` redirects browsers to the console. */
export function pageRoutes(router: AppRouter, { catalogue }: Pick<HttpDeps, 'catalogue'>): void {
  router.get('/', async (ctx) => {
    ctx.set('Vary', 'Accept');
    // Programs send `*/*`, which selects the first.
    if (ctx.accepts(['json', 'html']) !== 'html') {
      const data = { name: 'Videogen', documentation: '/docs', openapi: '/openapi.json' };
      return answer(ctx, { code: 200, msg: 'success', data });
    }
    ctx.redirect('/console');
  });
  for (const [route, name] of Object.entries(files)) {
    const file = fileURLToPath(import.meta.resolve(name));
    const isOurs = name.startsWith('#');
    router.get(route, async (ctx) => {
      ctx.set({ ...pageHeaders, 'Cache-Control': isOurs ? 'no-cache' : 'public, max-age=86400' });
      await sendFile(ctx, { root: dirname(file), path: basename(file) });
    });
  }
  for (const [path, route] of documents) {
    let page: ReturnType<typeof render> | undefined;
    router.get(path === firstDocument ? ['/docs', route] : route, async (ctx) => {
      page ??= render(path);
      await showPage(ctx, 'document', await page);
    });
  }
  const texts = new WeakMap<Offer, string>();
  router.get('/openapi.json', (ctx) => {
    const offer = catalogue();
    const text = texts.get(offer) ?? JSON.stringify(openApiDocument(offer));
    texts.set(offer, text);
    ctx.set({ 'Content-Type': 'application/json', 'Cache-Control': 'no-cache', 'Access-Control-Allow-Origin': '*' });
    ctx.body = text;
  });
}

/** Replaces each `{{name}}` in a page of assets/pages. */
async function showPage(ctx: Context, page: string, html: Readonly<Record<string, string>>): Promise<void> {
  const template = await readFile(new URL(import.meta.resolve(`#assets/pages/${page}.html`)), 'utf8');
  ctx.set({ ...pageHeaders, 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' });
  ctx.body = template.replaceAll(/\{\{(\w+)\}\}/g, (_match, name: string) => html[name] ?? '');
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

async function render(path: string) {
  const markdown = await readFile(new URL(path, readme), 'utf8').catch((cause: unknown) => {
    throw new HttpError('unknown_endpoint', { cause });
  });
  const { Marked } = await import('marked');
  const marked = new Marked({
    renderer: {
      heading({ depth, text, tokens }) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const target = targetOf(href, path);
        const inner = this.parser.parseInline(tokens);
        return target === undefined ? inner : `<a href="${escapeHtml(target)}">${inner}</a>`;
      },
      image: ({ href, text }) => `<img src="${escapeHtml(pathFrom(path, href))}" alt="${escapeHtml(text)}" />`,
    },
  });
  const title = /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? 'Videogen';
  const html = await marked.parse(markdown);
  // Makes wide tables and code scrollable by keyboard.
  const text = html
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<pre tabindex="0">');
  return { title: escapeHtml(title), text };
}

/** Compatible with GitHub. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

/** Links between documents become routes; undefined for a file that is not served. */
function targetOf(href: string, path: string): string | undefined {
  if (/^(?:https?:|#|\/)/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  const route = documents.get(pathFrom(path, file).slice(1));
  return anchor === undefined || route === undefined ? route : `${route}#${anchor}`;
}

/** Resolves `href` in the document at `path`; the result starts with a slash. */
function pathFrom(path: string, href: string): string {
  return new URL(href, `file:///${path}`).pathname;
}
