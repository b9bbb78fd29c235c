import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../../src/run/config/config.ts';

test('sign-up is off by default, grants nothing and sends no mail', () => {
  const { signUp, smtp } = readConfig({});
  assert.deepEqual(signUp, { mode: 'off', domains: [], credits: 0, hourlyLimit: 100, hourlyLimitPerAddress: 5 });
  assert.equal(smtp, undefined);
});

test('sign-up is open, by code, or by domains, which are set exactly then', () => {
  const domains = readConfig({ SIGN_UP: 'domain', SIGN_UP_DOMAINS: 'Example.com, example.org' }).signUp.domains;
  assert.deepEqual(domains, ['example.com', 'example.org']);
  for (const SIGN_UP of ['open', 'code']) assert.equal(readConfig({ SIGN_UP }).signUp.mode, SIGN_UP);
  assert.throws(() => readConfig({ SIGN_UP: 'domain' }), /SIGN_UP_DOMAINS: must be set if SIGN_UP is domain/);
  assert.throws(
    () => readConfig({ SIGN_UP: 'open', SIGN_UP_DOMAINS: 'example.com' }),
    /SIGN_UP_DOMAINS: must be set if/,
  );
  assert.throws(() => readConfig({ SIGN_UP: 'yes' }), /SIGN_UP: must be off, open, code or domain/);
  for (const SIGN_UP_DOMAINS of ['example', '@example.com', 'a.com;b.com', 'a.com,', `${'a.'.repeat(126)}de`]) {
    assert.throws(
      () => readConfig({ SIGN_UP: 'domain', SIGN_UP_DOMAINS }),
      /SIGN_UP_DOMAINS: must be domains/,
      SIGN_UP_DOMAINS,
    );
  }
  assert.throws(() => readConfig({ SIGN_UP_LIMIT: '0' }), /SIGN_UP_LIMIT: must be a whole number from 1/);
  assert.throws(() => readConfig({ SIGN_UP_CREDITS: '-1' }), /SIGN_UP_CREDITS: must be a whole number from 0/);
});

test('a mail server needs a sender, and its address with the password may be in a file', () => {
  const [SMTP_URL, SMTP_FROM] = ['smtps://videogen:secret@mail.example.com', 'Example <no-reply@example.com>'];
  assert.deepEqual(readConfig({ SMTP_URL, SMTP_FROM }).smtp, { url: SMTP_URL, from: SMTP_FROM });
  assert.throws(() => readConfig({ SMTP_URL }), /SMTP_URL, SMTP_FROM: set both or neither/);
  assert.throws(() => readConfig({ SMTP_FROM }), /SMTP_URL, SMTP_FROM: set both or neither/);
  assert.throws(() => readConfig({ SMTP_URL: 'http://mail.example.com', SMTP_FROM }), /SMTP_URL: must be smtp:/);
  for (const user of ['a:100%', '100%:b'])
    assert.throws(
      () => readConfig({ SMTP_URL: `smtp://${user}@x.com`, SMTP_FROM }),
      /SMTP_URL: must have a percent-encoded/,
    );
  for (const bad of ['nobody', 'a@x.com, b@x.com', 'a\n<b@x.com>', '<a@x.com', 'A <a@x.com> b']) {
    assert.throws(() => readConfig({ SMTP_URL, SMTP_FROM: bad }), /SMTP_FROM: must be an address/, bad);
  }
  const folder = mkdtempSync(join(tmpdir(), 'videogen-smtp-'));
  try {
    writeFileSync(join(folder, 'smtp'), `${SMTP_URL}\n`);
    assert.equal(readConfig({ SMTP_URL_FILE: join(folder, 'smtp'), SMTP_FROM }).smtp?.url, SMTP_URL);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
