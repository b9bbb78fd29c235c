import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Task } from '../../../src/catalogue/tasks/task.ts';
import {
  createLinkSigner,
  type PresentedLink,
  signVideoAndLastFrameLinks,
} from '../../../src/media/store/signed-link.ts';

const secret = 'a secret of the installation that nobody knows';
const key = 'results/0193/video.mp4';
const startMs = 1_800_000_000_000;
const dayMs = 24 * 60 * 60_000;

function signerAt(now: () => number, other: { secret?: string; secretPrevious?: readonly string[] } = {}) {
  return createLinkSigner({ secret, publicUrl: 'https://videogen.example', now, ...other });
}

function partsOf(link: string): PresentedLink {
  const { pathname, searchParams } = new URL(link);
  return {
    key: pathname.slice('/media/'.length),
    expires: searchParams.get('expires') ?? '',
    signature: searchParams.get('signature') ?? '',
  };
}

const signer = signerAt(() => startMs);
const good = partsOf(signer.sign(key));

test('a link is the public address, the key, its expiry in Unix seconds and a signature of 256 bits', () => {
  const expires = (startMs + dayMs) / 1000;
  const shape = new RegExp(
    `^https://videogen\\.example/media/results/0193/video\\.mp4\\?expires=${expires}&signature=[\\w-]{43}$`,
  );
  assert.match(signer.sign(key), shape);
});

test('a link keeps working behind a public address with a path', () => {
  const link = createLinkSigner({ secret, publicUrl: 'https://example.com/videogen' }).sign(key);
  assert.ok(link.startsWith(`https://example.com/videogen/media/${key}?`));
});

test('a link is good until its last millisecond and not at its expiry', () => {
  let now = startMs;
  const ticking = signerAt(() => now);
  for (const [atMs, answer] of [
    [startMs, startMs + dayMs],
    [startMs + dayMs - 1, startMs + dayMs],
    [startMs + dayMs, undefined],
    [startMs + dayMs + 1, undefined],
    [startMs * 10, undefined],
  ] as const) {
    now = atMs;
    assert.equal(ticking.verify(good), answer, String(atMs - startMs));
  }
});

test('two replicas with one secret accept each other, another secret does not', () => {
  assert.ok(signerAt(() => startMs).verify(good) !== undefined);
  assert.equal(signerAt(() => startMs, { secret: `${secret}.` }).verify(good), undefined);
});

test('no character of the signature can be changed, left out or added', () => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (let at = 0; at < good.signature.length; at += 1) {
    for (const letter of letters) {
      const signature = good.signature.slice(0, at) + letter + good.signature.slice(at + 1);
      assert.equal(signer.verify({ ...good, signature }) !== undefined, signature === good.signature, signature);
    }
    const shorter = good.signature.slice(0, at) + good.signature.slice(at + 1);
    assert.equal(signer.verify({ ...good, signature: shorter }), undefined);
  }
  for (const signature of [
    `${good.signature}=`,
    `${good.signature}A`,
    ` ${good.signature}`,
    '',
    good.signature.replaceAll('-', '+').replaceAll('_', '/').padEnd(44, '='),
  ]) {
    assert.equal(signer.verify({ ...good, signature }), undefined, signature);
  }
});

for (const expires of [
  '',
  '0',
  '1',
  '-1',
  '99999999999',
  `0${good.expires}`,
  `${good.expires}.0`,
  ` ${good.expires}`,
  `${good.expires}\n`,
  `+${good.expires}`,
  '1e12',
  'Infinity',
  'NaN',
  '9'.repeat(400),
]) {
  test(`a link cannot be prolonged: expires=${JSON.stringify(expires.slice(0, 20))}`, () => {
    assert.equal(signer.verify({ ...good, expires }), undefined);
  });
}

test('a signature is for one key only', () => {
  for (const other of ['results/0193/poster.jpg', 'results/0194/video.mp4', 'results/0193/video.mp', `${key}\n`, '']) {
    assert.equal(signer.verify({ ...good, key: other }), undefined, other);
  }
});

test('key and expiry cannot run into each other', () => {
  const { signature } = partsOf(signer.sign('a/1.mp4'));
  assert.equal(signer.verify({ key: `a/1.mp4\n${good.expires}`, expires: '', signature }), undefined);
});

test('after a rotation of the secret old links stay valid, new ones are not signed with the old one', () => {
  const rotated = signerAt(() => startMs, { secret: 'the next secret', secretPrevious: [secret] });
  assert.ok(rotated.verify(good));
  const link = partsOf(rotated.sign(key));
  assert.equal(signer.verify(link), undefined);
  assert.ok(signerAt(() => startMs, { secret: 'the next secret' }).verify(link));
});

test('a link of an earlier release stays valid', () => {
  assert.equal(good.signature, 'KNEYot9uurryxayXkVsGskYCTyA9B1zLWx9JAX7c9Vk');
});

test('a task has links to its video and its last frame after its success, until its media is deleted', () => {
  const store = { link: (name: string) => `link to ${name}` };
  const linksOf = (task: object) => signVideoAndLastFrameLinks(store, task as Task); // the fields that are read
  const result = { videoKey: 'v.mp4', posterKey: 'p.jpg' };
  assert.deepEqual(linksOf({}), { resultUrls: [] });
  assert.deepEqual(linksOf({ result }), { resultUrls: ['link to v.mp4'] });
  const withFrame = { ...result, lastFrameKey: 'l.jpg' };
  assert.deepEqual(linksOf({ result: withFrame }), { resultUrls: ['link to v.mp4'], lastFrameUrl: 'link to l.jpg' });
  assert.deepEqual(linksOf({ result: withFrame, mediaDeletedAt: 1 }), { resultUrls: [] });
});
