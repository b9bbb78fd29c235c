import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailKinds, composeMail } from '../../../src/platform/mail/mail-texts.ts';

const url = 'https://videogen.example/console/reset#secret';
const expiresAt = Date.UTC(2026, 10, 21, 10, 30, 59);
const service = { name: 'Films', publicUrl: 'https://videogen.example' };

test('every mail has its own subject, its link and the signature of the service', () => {
  const mails = mailKinds.map((kind) => composeMail(kind, service, url, expiresAt));
  assert.equal(new Set(mails.map(({ subject }) => subject)).size, mailKinds.length);
  for (const { subject, text } of mails) {
    assert.ok(subject.endsWith(' (Films)'));
    const [before, link, ...others] = text.split('\n\n');
    assert.ok(before !== '' && link === url);
    assert.equal(others.at(-1), '-- \nFilms\nhttps://videogen.example\n');
  }
});

test('a link that works once has its end, and that to the sign-in has none', () => {
  const until = 'The link works once, until 2026-11-21 10:30 UTC.';
  for (const kind of mailKinds) {
    const paragraphs = composeMail(kind, service, url, expiresAt).text.split('\n\n');
    assert.deepEqual([paragraphs.includes(until), paragraphs.length], kind === 'registered' ? [false, 4] : [true, 5]);
  }
});

test('the signature names an address for support', () => {
  const { text } = composeMail('invite', { ...service, support: 'mailto:help@example.com' }, url, expiresAt);
  assert.ok(text.endsWith('\n-- \nFilms\nhttps://videogen.example\nSupport: help@example.com\n'));
});
