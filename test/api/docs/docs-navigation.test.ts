import assert from 'node:assert/strict';
import { test } from 'node:test';
import { docsNavigation } from '../../../src/api/docs/docs-navigation.ts';

const found = (markup: string, pattern: RegExp) => [...markup.matchAll(pattern)].map(([, text]) => text);
const links = /href="([^"]+)"/g;

test('the navigation has every page that is served, and the outline of the current one', () => {
  const outline = [{ title: 'Tasks', links: [{ href: '#a', text: 'A' }] }, { links: [{ href: '#b', text: 'B' }] }];
  const { html } = docsNavigation(new Set(['/docs', '/docs/api']), '/docs/api', outline);
  assert.deepEqual(found(html, links), ['/docs', '/docs/api', '#a', '#b']);
  assert.deepEqual(found(html, /<p class="group">([^<]+)</g), ['Use the API']);
  assert.deepEqual(found(html, /<p class="part">([^<]+)</g), ['Tasks']);
  assert.deepEqual(found(html, /href="([^"]+)" aria-current=page/g), ['/docs/api']);
});

test('pages for clients come before those about running the service', () => {
  const routes = [
    '',
    '/api',
    '/reference',
    '/clients',
    '/mcp',
    '/dialect-kie',
    '/readme',
    '/tutorial',
    '/providers',
    '/models',
    '/operations',
    '/reference/operators',
    '/concepts',
    '/scaling',
    '/troubleshooting',
  ].map((path) => `/docs${path}`);
  const { html } = docsNavigation(new Set(routes), '', []);
  assert.deepEqual(found(html, links), routes);
  assert.deepEqual(found(html, /<p class="group">([^<]+)</g), ['Use the API', 'Run the service']);
  assert.doesNotMatch(html, /aria-current|class="outline"/);
});
