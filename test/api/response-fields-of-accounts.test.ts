import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presentAccount } from '../../src/api/accounts/operator-account-routes.ts';
import { presentCodeBatch } from '../../src/api/credits/redemption-routes.ts';
import { presentStatement } from '../../src/api/credits/statement-routes.ts';
import { presentPasskey } from '../../src/api/sign-in/passkey-routes.ts';
import { presentSession } from '../../src/api/sign-in/own-sessions-and-password-routes.ts';
import { presentSignUp } from '../../src/api/sign-in/sign-up-routes.ts';
import { statementSections } from '../../src/credits/reports/ledger-sections.ts';
import { origin } from '../support/service/person.ts';

// As test/api/response-fields.test.ts: each value of a row is another one.

const cases: readonly (readonly [what: string, shown: object, expected: object])[] = [
  [
    'an account',
    presentAccount({
      accountId: 'account',
      name: 'studio',
      balance: 1,
      unfinishedTasks: 2,
      maxUnfinishedTasks: 3,
      createRate: { quota: 4, windowMs: 5_000 },
      suspendedAt: 6,
      closedAt: 7,
      createdAt: 8,
    }),
    {
      accountId: 'account',
      name: 'studio',
      balance: 1,
      unfinishedTasks: 2,
      maxUnfinishedTasks: 3,
      creates: { quota: 4, windowSeconds: 5 },
      suspendTime: 6,
      closeTime: 7,
      createTime: 8,
    },
  ],
  [
    'a batch of codes',
    presentCodeBatch({
      batchId: 'batch',
      name: 'spring',
      credits: 1,
      codes: 2,
      redeemed: 3,
      createdAt: 4,
      expiresAt: 5,
      withdrawnAt: 6,
    }),
    {
      batchId: 'batch',
      name: 'spring',
      credits: 1,
      codes: 2,
      redeemed: 3,
      createTime: 4,
      expireTime: 5,
      withdrawTime: 6,
    },
  ],
  [
    'a session',
    presentSession({ ...origin, sessionId: 'session', createdAt: 1, lastUsedAt: 2, expiresAt: 3 }, 'other'),
    { ...origin, sessionId: 'session', isCurrent: false, createTime: 1, lastUseTime: 2, expireTime: 3 },
  ],
  [
    'a passkey',
    presentPasskey({ passkeyId: 'passkey', name: 'laptop', createdAt: 1, lastUsedAt: 2 }),
    { passkeyId: 'passkey', name: 'laptop', createTime: 1, lastUseTime: 2 },
  ],
  [
    'an open sign-up',
    presentSignUp({
      linkId: 'link',
      email: 'a@b.example',
      address: '192.0.2.1',
      mail: 'sent',
      createdAt: 1,
      expiresAt: 2,
    }),
    { linkId: 'link', email: 'a@b.example', address: '192.0.2.1', mail: 'sent', createTime: 1, expireTime: 2 },
  ],
  [
    'a statement',
    presentStatement(
      {
        accountId: 'account',
        accountName: 'studio',
        month: '2026-01',
        fromMs: 1,
        toMs: 2,
        createdAt: 3,
        isFinal: true,
        opening: 4,
        closing: 5,
        lines: [
          {
            section: 'grant',
            model: undefined,
            priceName: undefined,
            bookedAt: 6,
            reason: 'why',
            entries: 7,
            credits: 8,
          },
        ],
      },
      { accountCreatedAt: Date.UTC(2025, 10) },
    ),
    {
      month: '2026-01',
      fromTime: 1,
      toTime: 2,
      createTime: 3,
      isFinal: true,
      firstMonth: '2025-11',
      opening: 4,
      closing: 5,
      sections: statementSections.map((section) => ({
        section,
        ...(section === 'grant' ? { entries: 7, credits: 8 } : { entries: 0, credits: 0 }),
      })),
      lines: [{ section: 'grant', model: null, priceName: null, bookTime: 6, reason: 'why', entries: 7, credits: 8 }],
    },
  ],
];

for (const [what, shown, expected] of cases) {
  test(`${what} has each value under its documented name`, () => assert.deepEqual(shown, expected));
}
