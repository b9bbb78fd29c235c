import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkMailServer } from '../../../src/run/doctor/check-mail.ts';
import { startMailServer } from '../../support/servers/mail-server.ts';

test('doctor connects to the mail server and authenticates, and explains what fails', async () => {
  const server = await startMailServer({ user: 'videogen', password: 'secret' });
  const open = await startMailServer();
  try {
    const from = 'no-reply@example.com';
    const lineOf = async (url: string) => {
      const { state, message, remedy } = await checkMailServer({ url, from });
      return `${state}: ${message} → ${remedy}`;
    };
    assert.match(await lineOf(server.url), /^ok: 127\.0\.0\.1 accepts the user videogen/);
    assert.match(await lineOf(server.url.replace('secret', 'other')), /^error: 127\.0\.0\.1: .*535.* → Check SMTP_URL/);
    // Port 1 of this machine refuses connections.
    assert.match(await lineOf('smtp://127.0.0.1:1'), /^error: 127\.0\.0\.1: .*ECONNREFUSED.* → Check SMTP_URL/);
    assert.deepEqual(server.received, []);
    assert.match(await lineOf(open.url), /^ok: 127\.0\.0\.1 responds/);
  } finally {
    await Promise.all([server.close(), open.close()]);
  }
});
