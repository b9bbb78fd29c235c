import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findConsoleAsset, replaceStoredConsoleAssets } from './stored-console-files.ts';
import { fillTemplate } from '../brand/brand-markup.ts';
import type { Brand } from '../../platform/brand/brand.ts';
import type { Database } from '../../platform/database/database.ts';
import type { AppRouter, Context } from '../core/request-context-and-responses.ts';
import { HttpError } from '../core/http-error.ts';
import { buildConsoleHeaders } from './console-headers.ts';

/** Written by src/run/build/build-console.ts. */
const folder = fileURLToPath(new URL('../../../console', import.meta.url));

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** File names that may be in the database. */
const assetName = /^[\w.-]{1,100}$/;

export type AssetInMemory = {
  readonly type: string;
  readonly plain: Buffer;
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
};

/** Stores this release's files in the database, so that API processes of other releases can serve them to open pages. */
export async function storeConsoleFilesInDatabase(db: Database): Promise<void> {
  const assets = [...readAssets(join(folder, 'assets'))].map(([name, { plain }]) => ({ name, content: plain }));
  await replaceStoredConsoleAssets(db, assets);
}

type ConsoleDeps = {
  readonly db: Database;
  readonly brand: Brand;
  /** Other origins that the console loads media from. */
  readonly consoleMediaOrigins: readonly string[];
};

/**
 * Serves the console: one page for every path below `/console`, and its files, from memory. Files of other releases come from the
 * database, because during and after a rolling upgrade a page of one release loads code from the API of another.
 */
export function addConsoleRoutes(router: AppRouter, { db, brand, consoleMediaOrigins }: ConsoleDeps): void {
  const page = fillTemplate(readFileSync(join(folder, 'index.html'), 'utf8'), brand);
  const assets = readAssets(join(folder, 'assets'));
  const headers = buildConsoleHeaders(consoleMediaOrigins);
  const showPage = (ctx: Context) => {
    ctx.set({ ...headers, 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' });
    ctx.body = page;
  };
  router.get(/^\/console\/assets\/[^/]+$/, async (ctx) => {
    const name = ctx.path.slice('/console/assets/'.length);
    const asset = assets.get(name) ?? (await publishedAsset(db, name));
    if (asset === undefined) throw new HttpError('unknown_endpoint');
    ctx.set({ ...headers, 'Content-Type': asset.type, 'Cache-Control': 'public, max-age=31536000, immutable' });
    sendAsset(ctx, asset);
  });
  router.get('/console/', (ctx) => {
    ctx.status = 301;
    ctx.set('Location', `/console${ctx.search}`);
    ctx.body = '';
  });
  router.get('/console', showPage);
  // The page itself shows "not found". A missing asset is a 404, not the page.
  router.get(/^\/console\/(?!assets(?:\/|$)).+$/, showPage);
}

async function publishedAsset(db: Database, name: string): Promise<AssetInMemory | undefined> {
  const type = types[extname(name)];
  if (type === undefined || !assetName.test(name)) return undefined;
  const found = await findConsoleAsset(db, name);
  return found && { type, plain: found.content, br: undefined, gzip: undefined };
}

function readAssets(from: string): ReadonlyMap<string, AssetInMemory> {
  const names = new Set(readdirSync(from));
  const optional = (name: string) => (names.has(name) ? readFileSync(join(from, name)) : undefined);
  const assets = [...names].flatMap((name): readonly [string, AssetInMemory][] => {
    const type = types[extname(name)];
    if (type === undefined) return [];
    const plain = readFileSync(join(from, name));
    return [[name, { type, plain, br: optional(`${name}.br`), gzip: optional(`${name}.gz`) }]];
  });
  return new Map(assets);
}

export function sendAsset(ctx: Context, { plain, br, gzip }: AssetInMemory): void {
  ctx.set('Vary', 'Accept-Encoding');
  const accepts = (name: string) => ctx.acceptsEncodings([name, 'identity']) === name;
  const [encoding, body] =
    br !== undefined && accepts('br')
      ? ['br', br]
      : gzip !== undefined && accepts('gzip')
        ? ['gzip', gzip]
        : ['', plain];
  if (encoding !== '') ctx.set('Content-Encoding', encoding);
  ctx.body = body;
}
