import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../src/run/main/start-api.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { createHttpClient } from '../../support/service/http-client.ts';
import { startMailServer, tokenIn } from '../../support/servers/mail-server.ts';
import { goodPassword, newBrowser } from '../../support/service/person.ts';
import { createTestEnvironment } from '../../support/service/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

test('an API with a mail server and open sign-up takes a person from their e-mail address to an account, by its settings', async () => {
  const mailServer = await startMailServer({ user: 'videogen', password: 'secret' });
  const environment = await createTestEnvironment({
    SMTP_URL: mailServer.url,
    SMTP_FROM: 'no-reply@example.com',
    SIGN_UP: 'open',
    SIGN_UP_CREDITS: '25',
  });
  const api = await startApi(environment.settings, createLog({ level: 'silent' }));
  try {
    const browser = newBrowser({ send: createHttpClient(environment.settings.publicUrl) });
    const requested = await browser.ask('POST', '/api/console/v1/sign-up', { body: { email: 'ann@example.com' } });
    assert.equal(requested.status, 200, requested.json.msg);
    const mail = await waitFor('the mail', () => mailServer.received[0]);
    assert.equal(mail.to, 'ann@example.com');
    const body = { token: tokenIn(mail), password: goodPassword };
    const accepted = await browser.ask('POST', '/api/console/v1/links/accept', { body });
    assert.equal(accepted.status, 200, accepted.json.msg);
    const { db } = environment.database;
    const text = 'select amount from ledger_entries';
    assert.deepEqual(await db.run({ name: 'test-start-credit', text }), [{ amount: 25 }]);
  } finally {
    await api.close();
    await environment.close();
    await mailServer.close();
  }
});
