import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anchorOf, blockMarkdown, documentMarkdown, inlineMarkdown } from '../../../src/api/docs/markdown.ts';

const fenced = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\`\n`;
const targets = {
  link: (href: string) => (href === 'x.md' ? '/x' : undefined),
  image: (href: string) => `/i/${href}`,
  code: (text: string) => (text === 'GET /a' ? '/r#a' : undefined),
};
const shown = (...parts: readonly string[]) => documentMarkdown(parts.join('\n'), targets).html.replaceAll(/\s+/g, ' ');
const labels = (markup: string) =>
  [...markup.matchAll(/<pre [^>]*aria-label="([^"]+)"><code>([^<]*)/g)].map(([, label, text]) => [label, text]);

test('adjacent samples in several languages are tabs, named after their heading', () => {
  const markup = shown(
    fenced('sh', 'early'),
    fenced('ts', 'early too'),
    '# A `title`\n',
    fenced('sh', 'one'),
    fenced('ts', 'two'),
    fenced('python', 'three'),
    'A text between them.\n',
    fenced('sh', 'alone'),
    fenced('sh', 'again'),
    fenced('json', 'other'),
    fenced('ts', 'last'),
  );
  assert.deepEqual(labels(markup), [
    ['curl for this page', 'early'],
    ['TypeScript for this page', 'early too'],
    ['curl for A title', 'one'],
    ['TypeScript for A title', 'two'],
    ['Python for A title', 'three'],
    ['Code', 'alone'],
    ['Code', 'again'],
    ['Code', 'other'],
    ['Code', 'last'],
  ]);
  assert.equal(markup.match(/role="tablist"/g)?.length, 2);
  assert.deepEqual(
    [...markup.matchAll(/data-choose="(\w+)" aria-selected="(\w+)" tabindex="(-?\d)"/g)].map(([, ...tab]) => tab),
    [
      ['sh', 'true', '0'],
      ['ts', 'false', '-1'],
      ['sh', 'true', '0'],
      ['ts', 'false', '-1'],
      ['python', 'false', '-1'],
    ],
  );
});

test('links, images and code lead where the service has their targets', () => {
  const markup = shown(
    '## The next part\n',
    '[a](x.md) [b](y.md) ![pic](p.png) `GET /a` `c<d`',
    '',
    'http://a.example/',
  );
  for (const part of [
    '<h2 id="the-next-part">The next part</h2>',
    '<a href="/x">a</a> b <img src="/i/p.png" alt="pic" />',
    '<a href="/r#a"><code>GET /a</code></a> <code>c&#60;d</code>',
    '<p>http://a.example/</p>',
  ])
    assert.ok(markup.includes(part), `${part} in ${markup}`);
});

test('a table can be scrolled with the keyboard', () => {
  const markup = shown('| a |', '| - |', '| 1 |');
  assert.match(markup, /^<div class="table" tabindex="0" role="group" aria-label="Table"><table>.*<\/table><\/div> ?$/);
});

test('descriptions have links as they are written, and no markup of their own', () => {
  assert.equal(
    inlineMarkdown('<b>x</b> [l](https://a.example) `c`').html,
    '&#60;b&#62;x&#60;/b&#62; <a href="https://a.example">l</a> <code>c</code>',
  );
  assert.equal(blockMarkdown('![p](a.png)').html.trim(), '<p><img src="a.png" alt="p" /></p>');
});

test('an anchor has letters, digits and hyphens', () => assert.equal(anchorOf('Time & `x_y` 2-A!'), 'time--x_y-2-a'));
