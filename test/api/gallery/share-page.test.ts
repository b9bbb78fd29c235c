import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharePageHtml, sharePageHeaders } from '../../../src/api/gallery/share-page.ts';
import { presentShareLink } from '../../../src/api/gallery/share-link-routes.ts';

test('a link has each value under its documented name', () => {
  const link = { linkId: 'link', taskId: 'task', title: 'title', showsAccount: true, createdAt: 1, expiresAt: 2 };
  const shown = {
    linkId: 'link',
    taskId: 'task',
    title: 'title',
    showsAccountName: true,
    createTime: 1,
    expireTime: 2,
  };
  assert.deepEqual(presentShareLink(link), shown);
  assert.deepEqual(presentShareLink({ ...link, title: undefined, showsAccount: false }), {
    ...shown,
    title: null,
    showsAccountName: false,
  });
});

const page = { videoUrl: '/video', posterUrl: '/poster', widthPx: 1280, heightPx: 720 };
const withoutSpaces = (text: string) => text.replaceAll(/\s+/g, ' ');

test('the page has video, poster and size at their places, and what its link shows', () => {
  const named = withoutSpaces(sharePageHtml({ ...page, title: 'A film', accountName: 'studio' }));
  const video = 'width="1280" height="720" poster="/poster" src="/video"';
  for (const part of [
    video,
    'aria-label="A film"',
    '<title>A film</title>',
    '<h1>A film</h1>',
    '<p>Shared by studio</p>',
  ])
    assert.ok(named.includes(part), part);
  const plain = withoutSpaces(sharePageHtml({ ...page, title: undefined, accountName: undefined }));
  assert.ok(plain.includes('<h1 class="hidden">Shared video</h1>'), plain);
  assert.ok(plain.includes('aria-label="Shared video"'), plain);
  assert.ok(!plain.includes('Shared by'), plain);
});

test('the page may load its one style and media, also of the bucket that its links lead to, and may not be framed', () => {
  const { 'Content-Security-Policy': policy = '', ...others } = sharePageHeaders(['https://bucket.example']);
  assert.equal(
    policy.replace(/sha256-[^']+/, 'sha256-…'),
    "default-src 'none'; style-src 'sha256-…'; img-src 'self' https://bucket.example; media-src 'self' https://bucket.example; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  assert.deepEqual(others, {
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex, nofollow',
    'X-Frame-Options': 'DENY',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
    'Content-Type': 'text/html; charset=utf-8',
  });
});
