import { readFileSync } from 'node:fs';
import type { WithCatalogueGetter } from '../../catalogue/file/catalogue-schema-and-types.ts';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { fillTemplate } from '../brand/brand-markup.ts';
import { isWhiteLabel } from '../../platform/brand/brand.ts';
import type { WithModels } from '../../catalogue/models/model-type-and-name-lookup.ts';
import { buildConsoleHeaders } from '../console/console-headers.ts';
import { type AssetInMemory, sendAsset } from '../console/serve-console-and-store-its-files.ts';
import type { AppRouter, Context } from '../core/request-context-and-responses.ts';
import { sendFile } from '../core/server/send-file.ts';
import {
  serviceAddressDocuments,
  documentRoutesOf,
  type DocsPage,
  renderDocument,
  type DocumentedService,
} from './list-and-render-documents.ts';
import { html } from './html.ts';
import { docsNavigation } from './docs-navigation.ts';
import { type Audience, referencePage } from './reference-page.ts';
import { type SearchEntry, searchEntriesOfPage } from './search-index.ts';

/** The policy of the console: pages run only our code and send requests only to this service. */
export const docsHeaders = buildConsoleHeaders([]);

/** The frame of every page, written by src/run/build/build-console.ts. */
const frame = new URL('../../../console/docs.html', import.meta.url);

const referenceRoutes: Readonly<Record<Audience, string>> = {
  clients: '/docs/reference',
  operators: '/docs/reference/operators',
};

export type DocsDeps = WithCatalogueGetter & DocumentedService;

/** Serves the API reference and the documents, without internet access. */
export function addDocsRoutes(router: AppRouter, { brand, catalogue, publicUrl }: DocsDeps): void {
  const template = readFileSync(frame, 'utf8');
  const pages = pageMakers({ publicUrl, brand });
  // Customers of a service under another name are not shown how it is run.
  const isShown = (route: string) => !isWhiteLabel(brand) || route !== referenceRoutes.operators;
  const served = new Set([...pages.keys()].filter(isShown));
  const made = new WeakMap<WithModels, Map<string, Promise<AssetInMemory>>>();
  const serve = async (ctx: Context, route: string, make: (offer: WithModels) => Promise<AssetInMemory>) => {
    const offer = catalogue();
    const ofOffer = made.get(offer) ?? new Map<string, Promise<AssetInMemory>>();
    made.set(offer, ofOffer);
    const asset = ofOffer.get(route) ?? make(offer);
    ofOffer.set(route, asset);
    // A failure must not stay in the cache.
    asset.catch(() => ofOffer.delete(route));
    const ready = await asset;
    ctx.set({ ...docsHeaders, 'Content-Type': ready.type, 'Cache-Control': 'no-cache' });
    sendAsset(ctx, ready);
  };
  for (const [route, make] of pages) {
    router.get(route === '/docs' ? [route, '/docs/quickstart'] : route, (ctx) =>
      serve(ctx, route, async (offer) =>
        assetOf(htmlType, fillTemplate(template, brand, partsOf(served, route, await make(offer)))),
      ),
    );
  }
  router.get('/docs/search.json', (ctx) =>
    serve(ctx, '/docs/search.json', async (offer) =>
      assetOf('application/json', JSON.stringify(await index(pages, offer))),
    ),
  );
  if (isWhiteLabel(brand)) return;
  // Our README shows this picture.
  router.get('/docs/console.png', async (ctx) => {
    const file = fileURLToPath(import.meta.resolve('#docs/console.png'));
    ctx.set({ ...docsHeaders, 'Cache-Control': 'no-cache' });
    await sendFile(ctx, { root: dirname(file), path: basename(file) });
  });
}

type PageMakers = ReadonlyMap<string, (offer: WithModels) => Promise<DocsPage>>;

/** Maps routes to pages. Pages for clients come first, also among the results of a search. */
function pageMakers(service: DocumentedService): PageMakers {
  const documents = documentRoutesOf(service.brand);
  const ofDocument = ([path, route]: readonly [path: string, route: string]) =>
    [route, (offer: WithModels) => renderDocument(path, service, offer)] as const;
  const ofReference = (audience: Audience) =>
    [
      referenceRoutes[audience],
      (offer: WithModels) => Promise.resolve(referencePage(audience, offer, service)),
    ] as const;
  const isForClients = ([path]: readonly [path: string, route: string]) => serviceAddressDocuments.includes(path);
  return new Map([
    ...[...documents].filter(isForClients).map(ofDocument),
    ofReference('clients'),
    ...[...documents].filter((document) => !isForClients(document)).map(ofDocument),
    ofReference('operators'),
  ]);
}

const htmlType = 'text/html; charset=utf-8';

async function assetOf(type: string, text: string): Promise<AssetInMemory> {
  const plain = Buffer.from(text);
  return { type, plain, br: undefined, gzip: await promisify(gzip)(plain) };
}

/** Returns the parts of a page, by their names in the frame. */
function partsOf(served: ReadonlySet<string>, route: string, { title, main, outline }: DocsPage) {
  const isReference = Object.values(referenceRoutes).includes(route);
  return {
    title: html`${title}`.html,
    kind: isReference ? 'reference' : 'document',
    navigation: docsNavigation(served, route, outline).html,
    main: main.html,
  };
}

async function index(pages: PageMakers, offer: WithModels): Promise<readonly SearchEntry[]> {
  const made = await Promise.all([...pages].map(async ([route, make]) => [route, await make(offer)] as const));
  return made.flatMap(([route, { title, main }]) => searchEntriesOfPage(route, title, main.html));
}
