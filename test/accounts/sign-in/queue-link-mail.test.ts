import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queueLinkMail } from '../../../src/accounts/sign-in/queue-link-mail.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';

const db: StatementRunner = { run: () => assert.fail('The queue alone writes.') };
const link = { linkId: 'link 1', purpose: 'invite', token: 'token-1', expiresAt: 5 } as const;
const addressee = { email: 'ann@example.com', accountId: 'account 1' };

test('the e-mail of a link has its path, its recipient and the account that caused it, in the transaction of the link', async () => {
  for (const isMailed of [true, false]) {
    const added: unknown[] = [];
    const mails = {
      add: async (...given: readonly unknown[]) => {
        added.push(given);
        return isMailed;
      },
    };
    assert.deepEqual(await queueLinkMail(db, mails, link, addressee), { ...link, isMailed });
    const mail = { kind: 'invite', recipient: 'ann@example.com', linkId: 'link 1', path: '/console/invite#token-1' };
    assert.deepEqual(added, [[db, { ...mail, expiresAt: 5, accountId: 'account 1' }]]);
  }
});

test('without a mail server no link is mailed, and a setup link never is', async () => {
  assert.deepEqual(await queueLinkMail(db, undefined, link, addressee), { ...link, isMailed: false });
  const mails = { add: () => assert.fail('It is printed.') };
  const setup = { ...link, purpose: 'setup' } as const;
  assert.deepEqual(await queueLinkMail(db, mails, setup, addressee), { ...setup, isMailed: false });
});
