import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchEntriesOfPage } from '../../../src/api/docs/search-index.ts';

test('each heading leads to the words between it and the next one, each once and in lower case', () => {
  const markup =
    '<p>before</p><h1 id="a">Tea &#38; <em>milk</em></h1><p>Some <b>words</b>, some &lt;x&gt; &quot;q&quot; &amp; &#60;y&#62;</p>' +
    '<h4 id="b" class="c">Second</h4>\n<code>GET /api/v1/jobs</code> ends';
  assert.deepEqual(searchEntriesOfPage('/docs/page', 'The page', markup), [
    { href: '/docs/page#a', title: 'Tea & milk', page: 'The page', words: 'some words x q y' },
    { href: '/docs/page#b', title: 'Second', page: 'The page', words: 'get /api/v1/jobs ends' },
  ]);
  assert.deepEqual(searchEntriesOfPage('/docs/page', 'The page', '<h5 id="c">Small</h5>'), []);
});
