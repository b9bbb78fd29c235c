import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type HttpService, startHttpService } from '../../support/http-service.ts';

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';
const temporalUiUrl = 'http://127.0.0.1:8233';

let service: HttpService;
before(async () => {
  service = await startHttpService({ temporalUiUrl });
});
after(() => service.close());

test('200 a browser gets a page whose links lead to what is there', async () => {
  for (const path of ['/', '/?a=b']) {
    const page = await service.send('GET', path, { headers: { accept: browser } });
    assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8']);
    assert.match(String(page.headers['content-security-policy']), /^default-src 'none'; script-src 'self'; /);
    assert.equal(page.headers['vary'], 'Accept');
    const links = [...page.bytes.toString().matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, link]) => String(link));
    for (const link of links) assert.equal((await service.send('GET', link)).status, 200, link);
    for (const link of ['/docs', '/docs/readme', '/docs/dialect-kie']) assert.ok(links.includes(link), link);
  }
});

for (const accept of [undefined, '*/*', 'application/json', 'application/json, text/plain, */*']) {
  test(`200 a program gets the envelope: Accept: ${accept}`, async () => {
    const answer = await service.send('GET', '/', accept === undefined ? {} : { headers: { accept } });
    assert.equal(answer.status, 200);
    const data = { name: 'Videogen', documentation: '/docs', openapi: '/openapi.json' };
    assert.deepEqual(answer.json, { code: 200, msg: 'success', data });
  });
}

test("Temporal's address is shown to this machine alone, where it can be opened", async () => {
  const page = async (headers: Record<string, string>) =>
    (await service.send('GET', '/', { headers: { accept: browser, ...headers } })).bytes.toString();
  assert.ok((await page({})).includes(`href="${temporalUiUrl}"`));
  assert.ok(!(await page({ 'x-forwarded-for': '203.0.113.7' })).includes(temporalUiUrl));
});

test('200 the icon that browsers ask for is there', async () => {
  const { status, headers, bytes } = await service.send('GET', '/favicon.ico');
  assert.deepEqual([status, headers['content-type']], [200, 'image/png']);
  assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
});
