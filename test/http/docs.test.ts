import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused } from '../support/http-client.ts';
import { type HttpService, startHttpService } from '../support/http-service.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

test('200 the page and all it loads come from this service', async () => {
  const page = await service.send('GET', '/docs/reference');
  assert.equal(page.status, 200);
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
  const html = page.bytes.toString();
  assert.doesNotMatch(html, /https?:\/\//);
  const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => String(link));
  assert.ok(links.length >= 5, links.join());
  for (const link of links) {
    const first = await service.send('GET', link, { headers: { accept: 'text/html' } });
    // A browser is led from `/` to the console.
    const target = link === '/' ? String(first.headers.location) : undefined;
    const answer =
      target === undefined ? first : await service.send('GET', target, { headers: { accept: 'text/html' } });
    assert.deepEqual([link, answer.status], [link, 200]);
    assert.ok(answer.bytes.length > 100, link);
    assert.doesNotMatch(answer.bytes.toString().slice(0, 200), /"code":/, link);
  }
});

test('200 the policy lets the page run only what this service sends, and talk only to it', async () => {
  for (const path of ['/docs', '/docs/reference', '/docs/start.js', '/docs/swagger-ui.css']) {
    const { headers } = await service.send('GET', path);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; script-src 'self'; /);
    assert.match(policy, /connect-src 'self'.*frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe-eval|http/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
  }
});

for (const [path, title] of [
  ['/docs', 'Use the API'],
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
    assert.match(html, new RegExp(`<title>${title}`, 'i'));
    assert.ok(html.length > 2_000);
    for (const [, link = '', anchor] of html.matchAll(/(?:href|src)="(?!https:|#)([^"#]+)(?:#([^"]+))?"/g)) {
      const target = await service.send('GET', link, { headers: { accept: 'text/html' } });
      assert.ok(target.status === 200 || link === '/', link);
      if (anchor !== undefined) assert.ok(target.bytes.includes(`id="${anchor}"`), `${link}#${anchor}`);
    }
  });
}

test('404 nothing else of the package is given out, nor anything around it', async () => {
  for (const path of ['package.json', 'swagger-ui.js', '../zod/package.json', '%2e%2e/zod/package.json', '']) {
    assertRefused(await service.send('GET', `/docs/${path}`), 404, /unknown endpoint/);
  }
});
