import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { defaultBrand } from '../../support/service/defaults/default-brand.ts';
import { readConfig } from '../../../src/run/config/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'videogen-brand-'));
after(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, bytes: Buffer | string): string {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
}

test('without settings the service has its own name and look', () => {
  assert.deepEqual(readConfig({}).brand, defaultBrand);
});

test('a support address is an e-mail or a page, and links are pages', () => {
  assert.equal(readConfig({ BRAND_SUPPORT: 'help@example.com' }).brand.support, 'mailto:help@example.com');
  assert.equal(readConfig({ BRAND_SUPPORT: 'https://example.com/help' }).brand.support, 'https://example.com/help');
  assert.throws(
    () => readConfig({ BRAND_SUPPORT: 'javascript:alert(1)' }),
    /BRAND_SUPPORT: must be an e-mail address, or/,
  );
  for (const name of ['BRAND_TERMS_URL', 'BRAND_PRIVACY_URL', 'BRAND_BUY_CREDITS_URL'])
    assert.throws(
      () => readConfig({ [name]: 'javascript:alert(1)' }),
      new RegExp(`${name}: must be an http or https URL`),
    );
});

test('a name is one line without markup', () => {
  assert.equal(readConfig({ BRAND_NAME: "Harbour & Söhne's" }).brand.name, "Harbour & Söhne's");
  assert.equal(readConfig({ BRAND_NAME: 'a'.repeat(60) }).brand.name.length, 60);
  for (const BRAND_NAME of [' a', 'a ', 'a\nb', '<b>', '{{main}}', 'a'.repeat(61)])
    assert.throws(() => readConfig({ BRAND_NAME }), /BRAND_NAME: must be 1 to 60 characters on one line/, BRAND_NAME);
});

test('a logo is a small PNG or WebP, not an SVG, which may contain scripts', () => {
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(10)]);
  const webp = Buffer.from('RIFF\0\0\0\0WEBPVP8 ', 'latin1');
  const { logo } = readConfig({ BRAND_LOGO: fileOf('logo.png', png) }).brand;
  assert.deepEqual([logo?.type, logo?.bytes], ['image/png', png]);
  assert.equal(readConfig({ BRAND_LOGO: fileOf('logo.webp', webp) }).brand.logo?.type, 'image/webp');
  const svg = fileOf('logo.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
  assert.throws(() => readConfig({ BRAND_LOGO: svg }), /BRAND_LOGO: must be a PNG or WebP file/);
  const large = fileOf('large.png', Buffer.concat([png, Buffer.alloc(256 * 1024)]));
  assert.throws(() => readConfig({ BRAND_LOGO: large }), /BRAND_LOGO: must be a file of at most 256 KB/);
  assert.throws(() => readConfig({ BRAND_LOGO: join(folder, 'none.png') }), /BRAND_LOGO: .*ENOENT/);
});

test('an accent color has enough contrast, or the message names the nearest shade that has', () => {
  assert.equal(readConfig({ BRAND_ACCENT: '#0f766e' }).brand.accent?.fill[0], '#0f766e');
  assert.throws(
    () => readConfig({ BRAND_ACCENT: '#ffcc00' }),
    /BRAND_ACCENT: must have a contrast of 4\.5 .* #[\da-f]{6} has enough/,
  );
});
