import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { storeConsoleFilesInDatabase } from '../../../src/api/console/serve-console-and-store-its-files.ts';
import { replaceStoredConsoleAssets } from '../../../src/api/console/stored-console-files.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService({ consoleMediaOrigins: ['https://videos.example.com'] });
});
after(() => service.close());

const get = (path: string, headers = {}) => service.send('GET', path, { headers });
const pageOf = async (path: string) => (await get(path)).bytes.toString();
const assetsOf = (html: string) => [...html.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, path]) => String(path));

test('200 every path of the console is its page, which is revalidated each time', async () => {
  for (const path of ['/console', '/console/sign-in', '/console/a/01/tasks/02', '/console/no/such/page']) {
    const { status, headers, bytes } = await get(path);
    assert.deepEqual(
      [status, headers['content-type'], headers['cache-control']],
      [200, 'text/html; charset=utf-8', 'no-cache'],
    );
    assert.match(bytes.toString(), /<div id="app">/);
    assert.ok(bytes.length < 3_000);
  }
});

test('without a brand of its own, the page has our name and our icon, and there are no files of a brand', async () => {
  for (const path of ['/brand/logo', '/brand/colors.css']) assert.equal((await get(path)).status, 404);
  const page = await pageOf('/console');
  assert.match(page, /<title>Videogen<\/title>[^]*href="\/favicon\.ico"/);
  assert.doesNotMatch(page, /\/brand\//);
});

test('301 one spelling: /console/ leads to /console', async () => {
  const { status, headers } = await get('/console/?a=b');
  assert.deepEqual([status, headers['location']], [301, '/console?a=b']);
});

test('200 its files may be cached forever, and are compressed for clients that accept it', async () => {
  const assets = assetsOf(await pageOf('/console'));
  assert.equal(assets.length, 3, assets.join());
  for (const path of assets) {
    const plain = await get(path);
    assert.equal(plain.status, 200, path);
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
    if (path.endsWith('.woff2')) continue;
    const br = await get(path, { 'accept-encoding': 'gzip, br' });
    assert.equal(br.headers['content-encoding'], 'br');
    assert.deepEqual(brotliDecompressSync(br.bytes), plain.bytes);
    const gzip = await get(path, { 'accept-encoding': 'gzip' });
    assert.deepEqual(gunzipSync(gzip.bytes), plain.bytes);
    assert.equal(gzip.headers['vary'], 'Accept-Encoding');
  }
});

test('404 a file that is not there is never the page', async () => {
  for (const path of [
    '/console/assets/unknown.js',
    '/console/assets/',
    '/console/assets',
    '/console/assets/../index.html',
  ]) {
    const { status, json } = await get(path);
    assert.deepEqual([status, json.error], [404, 'unknown_endpoint'], path);
  }
});

test('every response forbids foreign code and framing by other pages', async () => {
  const [asset = ''] = assetsOf(await pageOf('/console'));
  for (const path of ['/console', '/console/sign-in', asset]) {
    const { headers } = await get(path);
    assert.deepEqual(String(headers['content-security-policy']).split('; '), [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "font-src 'self'",
      "connect-src 'self'",
      "img-src 'self' https://videos.example.com data: blob:",
      "media-src 'self' https://videos.example.com",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'same-origin');
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
    assert.equal(headers['x-frame-options'], 'DENY');
  }
});

test('the page holds no code and no style of its own', async () => {
  const html = await pageOf('/console');
  assert.doesNotMatch(html, /<style|<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=/);
});

test('200 a file of another release comes from the database, for a week after that release was replaced', async () => {
  const { db } = service.database;
  const path = '/console/assets/page-OTHER1.js';
  assert.equal((await get(path)).status, 404);
  await replaceStoredConsoleAssets(db, [{ name: 'page-OTHER1.js', content: Buffer.from('export {}') }]);
  const isServed = async () => {
    const { status, headers, bytes } = await get(path, { 'accept-encoding': 'br' });
    assert.deepEqual([status, headers['content-type']], [200, 'text/javascript; charset=utf-8']);
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(bytes.toString(), 'export {}');
  };
  await isServed();
  await storeConsoleFilesInDatabase(db);
  await isServed();
  const text = `update console_assets set replaced_at = replaced_at - interval '8 days'`;
  await db.run({ name: 'test-age-assets', text }, []);
  await storeConsoleFilesInDatabase(db);
  assert.equal((await get(path)).status, 404);
});

test('200 every file of this release is published for the processes of other releases', async () => {
  const { db } = service.database;
  await storeConsoleFilesInDatabase(db);
  await storeConsoleFilesInDatabase(db);
  const text = 'select name, content from console_assets where replaced_at is null';
  const rows = await db.run<{ name: string; content: Buffer }>({ name: 'test-list-assets', text }, []);
  assert.ok(rows.length > 10);
  for (const { name, content } of rows) {
    assert.deepEqual((await get(`/console/assets/${name}`)).bytes, content, name);
  }
});
