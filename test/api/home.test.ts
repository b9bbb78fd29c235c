import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type HttpService, startHttpService } from '../support/service/http-service.ts';

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

test('302 a browser is led to the console', async () => {
  for (const path of ['/', '/?a=b']) {
    const { status, headers } = await service.send('GET', path, { headers: { accept: browser } });
    assert.deepEqual([status, headers['location'], headers['vary']], [302, '/console', 'Accept']);
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

test('200 the icon that browsers ask for is there', async () => {
  const { status, headers, bytes } = await service.send('GET', '/favicon.ico');
  assert.deepEqual([status, headers['content-type'], headers['cache-control']], [200, 'image/png', 'no-cache']);
  assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
});
