import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

test('200 every page and all it loads come from this service', async () => {
  for (const path of ['/docs', '/docs/reference', '/docs/reference/operators']) {
    const page = await service.send('GET', path);
    assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8']);
    const html = page.bytes.toString();
    assert.doesNotMatch(html, /<script(?![^>]* src="\/)|<style|\sstyle=|\son\w+=/, 'nothing inline');
    const loaded = [...html.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"/g)].map(([, link]) =>
      String(link),
    );
    assert.ok(loaded.length >= 4, loaded.join());
    for (const link of loaded) {
      const answer = await service.send('GET', link);
      assert.deepEqual([link, answer.status], [link, 200]);
      assert.ok(answer.bytes.length > 100, link);
    }
  }
});

test('200 the policy lets the pages run only files of this service, and send requests only to it', async () => {
  for (const path of ['/docs', '/docs/reference', '/docs/reference/operators', '/docs/search.json']) {
    const { headers } = await service.send('GET', path);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
    assert.match(policy, /connect-src 'self'.*frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe|http/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['cache-control'], 'no-cache', 'a new release has new pages');
  }
});

test('200 the first document has an address of its own, too, and a service without a look of its own has no files of one', async () => {
  const [first, named] = [await service.send('GET', '/docs'), await service.send('GET', '/docs/quickstart')];
  assert.deepEqual([named.status, named.bytes], [200, first.bytes]);
  for (const path of ['/brand/logo', '/brand/colors.css'])
    assertRefused(await service.send('GET', path), 404, /unknown endpoint/);
});

test('200 pages are compressed for clients that accept it', async () => {
  const plain = await service.send('GET', '/docs/reference');
  const { status, headers, bytes } = await service.send('GET', '/docs/reference', {
    headers: { 'accept-encoding': 'gzip' },
  });
  assert.deepEqual([status, headers['content-encoding'], headers['vary']], [200, 'gzip', 'Accept-Encoding']);
  assert.deepEqual(gunzipSync(bytes), plain.bytes);
});

test('200 the search index leads to headings that exist', async () => {
  const { status, bytes } = await service.send('GET', '/docs/search.json');
  assert.equal(status, 200);
  const entries = JSON.parse(bytes.toString()) as readonly { href: string; title: string; words: string }[]; // of our own server
  const pages = new Map<string, string>();
  for (const { href, title } of entries) {
    const [path = '', id = ''] = href.split('#');
    const page = pages.get(path) ?? (await service.send('GET', path)).bytes.toString();
    pages.set(path, page);
    assert.ok(title !== '' && page.includes(` id="${id}"`), href);
  }
  assert.ok(entries.some(({ href }) => href === '/docs/reference#createTask'));
  assert.ok(pages.size > 10);
});

for (const [path, title] of [
  ['/docs', 'Quickstart'],
  ['/docs/api', 'Use the API'],
  ['/docs/readme', 'Videogen'],
  ['/docs/concepts', 'Concepts'],
  ['/docs/dialect-kie', 'The dialect kie'],
  ['/docs/providers', 'Connect a model'],
  ['/docs/providers/own', 'Connect your own program'],
  ['/docs/operations', 'Operations'],
  ['/docs/operations/runbooks', 'Runbooks'],
  ['/docs/scaling', 'Scaling'],
] as const) {
  test(`200 ${path} shows the document, and its links lead to what is there`, async () => {
    const page = await service.send('GET', path);
    assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8']);
    assert.match(String(page.headers['content-security-policy']), /^default-src 'none'; script-src 'self'; /);
    const html = page.bytes.toString();
    assert.match(html, new RegExp(`<title>${title} · Videogen`, 'i'));
    assert.ok(html.length > 2_000);
    for (const [, link = '', anchor] of html.matchAll(/(?:href|src)="(?!https:|#)([^"#]+)(?:#([^"]+))?"/g)) {
      const target = await service.send('GET', link, { headers: { accept: 'text/html' } });
      assert.ok(target.status === 200 || link === '/', link);
      if (anchor !== undefined) assert.ok(target.bytes.includes(`id="${anchor}"`), `${link}#${anchor}`);
    }
  });
}

test('200 a document has the address of this service, links from endpoints to the reference, and its outline', async () => {
  const page = async (path: string) => (await service.send('GET', path)).bytes.toString();
  const guide = await page('/docs/api');
  assert.ok(guide.includes('http://media.test/api/v1/jobs/createTask'));
  assert.ok(!guide.includes('127.0.0.1:3000'));
  assert.ok((await page('/docs/readme')).includes('127.0.0.1:3000'), 'the service of a reader who runs it');
  assert.ok(guide.includes('<a href="/docs/reference#priceTask"><code>POST /api/v1/jobs/price</code></a>'));
  const [, outline = ''] = /<ul class="outline">([^]*?)<\/ul>/.exec(guide) ?? [];
  const links = [...outline.matchAll(/<a href="#([^"]+)">([^<]+)</g)];
  assert.ok(links.length > 10);
  for (const [, id = '', text = ''] of links) {
    assert.doesNotMatch(text, /`/);
    assert.match(guide, new RegExp(`<h2 id="${id}">`));
  }
});

test('404 nothing else of the package is given out, nor anything around it', async () => {
  for (const path of ['package.json', 'quickstart.md', '../zod/package.json', '%2e%2e/zod/package.json', '']) {
    assertRefused(await service.send('GET', `/docs/${path}`), 404, /unknown endpoint/);
  }
});
