import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brandHead, brandLogoHtml, fillTemplate } from '../../../src/api/brand/brand-markup.ts';
import { parseAccentIntoShades } from '../../../src/platform/brand/accent.ts';
import { defaultBrand } from '../../support/service/defaults/default-brand.ts';

const logo = { type: 'image/png', bytes: Buffer.from('89504e470d0a1a0a', 'hex'), version: 'abc' };
const accent = parseAccentIntoShades('#0f766e');

test('a page has the icon and the style of the brand where it has them', () => {
  const ours = brandHead(defaultBrand).html;
  assert.ok(ours.includes('href="/favicon.ico"'));
  assert.ok(!ours.includes('stylesheet'));
  const theirs = brandHead({ ...defaultBrand, logo, accent }).html;
  assert.ok(theirs.includes('rel="icon" href="/brand/logo?v=abc"'));
  assert.match(theirs, /<link rel="stylesheet" href="\/brand\/[^"]+" \/>/);
});

test('the logo is the file of the brand, or our own drawing', () => {
  assert.equal(
    brandLogoHtml({ ...defaultBrand, logo }).html,
    '<img class="brand-mark" src="/brand/logo?v=abc" alt="" />',
  );
  assert.match(brandLogoHtml(defaultBrand).html, /^<svg class="brand-mark" /);
});

test('a template gets the parts of the brand, those of the page, and nothing for a name that is unknown', () => {
  const brand = { ...defaultBrand, name: 'Harbour & Co' };
  assert.equal(fillTemplate('<{{brandName}}|{{own}}|{{other}}>', brand, { own: 'x' }), '<Harbour &#38; Co|x|>');
});
