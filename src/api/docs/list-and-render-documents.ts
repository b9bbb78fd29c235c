import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type Brand, isWhiteLabel } from '../../platform/brand/brand.ts';
import type { WithModels } from '../../catalogue/models/model-type-and-name-lookup.ts';
import { sections } from '../endpoints.ts';
import { rewriteForWhiteLabel, whiteLabelDocuments } from './branded-document.ts';
import type { Html } from './html.ts';
import { anchorOf, documentMarkdown } from './markdown.ts';

const readme = new URL(import.meta.resolve('#readme'));

/** The document at `/docs`. */
const firstDocument = 'docs/quickstart.md';
const readmePath = 'README.md';

/** The samples of these documents call this service: its address replaces `sampleUrl`. */
export const serviceAddressDocuments: readonly string[] = ['docs/quickstart.md', 'docs/api.md'];
const sampleUrl = 'http://127.0.0.1:3000';

/** Routes by path in the package. */
const documents: ReadonlyMap<string, string> = new Map(
  [readmePath, ...docsFiles()].map((path) => [path, routeOf(path)]),
);

/** An installation may omit documents. */
function docsFiles(): readonly string[] {
  const folder = new URL('docs/', readme);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`);
}

export function documentRoutesOf(brand: Brand): ReadonlyMap<string, string> {
  if (!isWhiteLabel(brand)) return documents;
  return new Map([...documents].filter(([path]) => whiteLabelDocuments.includes(path)));
}

function routeOf(path: string): string {
  if (path === firstDocument) return '/docs';
  return path === readmePath ? '/docs/readme' : `/${path.replace(/(?:\/README)?\.md$/, '')}`;
}

/** Links into the page, under a title where they are many. */
export type PageOutline = readonly { readonly title?: string; readonly links: readonly DocsLink[] }[];
export type DocsLink = { readonly href: string; readonly text: string };

export type DocsPage = { readonly title: string; readonly main: Html; readonly outline: PageOutline };

/** Pages and endpoints of the service, as documents write them. */
const serviceTargets: ReadonlyMap<string, string> = new Map([
  ...['/console', '/docs', '/docs/reference', '/docs/reference/operators'].map((path) => [path, path] as const),
  ...sections.flatMap(({ endpoints, isForOperators = false }) =>
    endpoints.map(
      ({ method, path, operationId }) =>
        [
          `${method.toUpperCase()} ${path}`,
          `/docs/reference${isForOperators ? '/operators' : ''}#${operationId}`,
        ] as const,
    ),
  ),
]);

/** The service as its customers see it. */
export type DocumentedService = { readonly publicUrl: string; readonly brand: Brand };

export async function renderDocument(
  path: string,
  { publicUrl, brand }: DocumentedService,
  { models }: WithModels,
): Promise<DocsPage> {
  const own = await readFile(new URL(path, readme), 'utf8');
  const text = isWhiteLabel(brand) ? rewriteForWhiteLabel(own, brand.name, [...models.keys()]) : own;
  const markdown = serviceAddressDocuments.includes(path) ? text.replaceAll(sampleUrl, publicUrl) : text;
  const title = /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? brand.name;
  const served = documentRoutesOf(brand);
  const targets = {
    link: (href: string) => targetOf(href, path, served),
    image: (href: string) => pathFrom(path, href),
    code: (code: string) => serviceTargets.get(code),
  };
  return { title, main: documentMarkdown(markdown, targets), outline: [{ links: headingsOf(markdown) }] };
}

function headingsOf(markdown: string): readonly DocsLink[] {
  const withoutCode = markdown.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
  return [...withoutCode.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => ({
    href: `#${anchorOf(heading)}`,
    text: heading.replaceAll('`', ''),
  }));
}

/** Links between documents become routes; undefined for a file that is not served. */
function targetOf(href: string, path: string, served: ReadonlyMap<string, string>): string | undefined {
  if (/^(?:https?:|#|\/)/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  const route = served.get(pathFrom(path, file).slice(1));
  return anchor === undefined || route === undefined ? route : `${route}#${anchor}`;
}

/** Resolves `href` in the document at `path`; the result starts with a slash. */
function pathFrom(path: string, href: string): string {
  return new URL(href, `file:///${path}`).pathname;
}
