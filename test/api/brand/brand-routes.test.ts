import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAccentIntoShades } from '../../../src/platform/brand/accent.ts';
import { defaultBrand } from '../../support/service/defaults/default-brand.ts';
import { startHttpService } from '../../support/service/http-service.ts';

test('the logo and the colors of a brand are served for five minutes, and a brand without them has neither', async (t) => {
  const bytes = Buffer.from('a picture');
  const logo = { type: 'image/png', bytes, version: '1' } as const;
  const accent = parseAccentIntoShades('#2456d6');
  const service = await startHttpService({ brand: { ...defaultBrand, logo, accent } });
  t.after(() => service.close());
  const plain = await startHttpService({ database: service.database });
  t.after(() => plain.close());
  const shown = await service.send('GET', '/brand/logo');
  assert.deepEqual([shown.status, shown.bytes], [200, bytes]);
  const colors = await service.send('GET', '/brand/colors.css');
  assert.equal(colors.status, 200);
  assert.ok(colors.bytes.includes(accent.fill[0]) && colors.bytes.includes(accent.fill[1]));
  for (const [{ headers }, type] of [
    [shown, 'image/png'],
    [colors, 'text/css; charset=utf-8'],
  ] as const) {
    assert.deepEqual([headers['content-type'], headers['cache-control']], [type, 'public, max-age=300']);
    assert.match(String(headers['content-security-policy']), /default-src/);
  }
  for (const path of ['/brand/logo', '/brand/colors.css']) {
    const { status, json } = await plain.send('GET', path);
    assert.deepEqual([status, json.error], [404, 'unknown_endpoint']);
  }
});
