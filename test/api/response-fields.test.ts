import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presentLedgerEntry } from '../../src/api/accounts/ledger-entry-view.ts';
import { presentKey } from '../../src/api/accounts/key-view.ts';
import { presentBookedCredits, presentMargin } from '../../src/api/credits/margin-report-view.ts';
import { presentSetPrice } from '../../src/api/credits/price-view.ts';
import { presentAnnouncement } from '../../src/api/operators/announcement-routes.ts';
import { presentAdminTopUp, presentTopUp, presentUngrantedPayment } from '../../src/api/payments/top-up-view.ts';
import { presentMember, presentPerson } from '../../src/api/people/person-view.ts';
import { presentSecurityEventPage } from '../../src/api/people/security-event-view.ts';
import { presentLoggedRequest } from '../../src/api/request-log/request-log-routes.ts';

// A row and its response have most fields under one name. These are the views that name fields anew; each value of a row is another one.

const topUp = {
  topUpId: 'top-up',
  accountId: 'account',
  package: 'starter',
  credits: 1_000,
  currency: 'EUR',
  minorUnits: 999,
  provider: 'stripe',
  isTest: true,
  state: 'paid',
  checkoutId: 'checkout',
  paymentId: 'payment',
  receiptUrl: 'https://receipt.example',
  settledBy: 'event',
  createdAt: 1,
  paidAt: 2,
  reversedCredits: 3,
} as const;
const shownTopUp = {
  topUpId: 'top-up',
  package: 'starter',
  credits: 1_000,
  price: { currency: 'EUR', minorUnits: 999 },
  state: 'paid',
  isTest: true,
  createTime: 1,
  paidTime: 2,
  reversedCredits: 3,
};

const person = {
  userId: 'user',
  email: 'a@b.example',
  isDisabled: true,
  role: 'viewer',
  joinedAt: 1,
  lastUsedAt: 2,
} as const;
const shownMember = {
  userId: 'user',
  email: 'a@b.example',
  isDisabled: true,
  role: 'viewer',
  joinTime: 1,
  lastUseTime: 2,
};
const accounts = [{ accountId: 'account', name: 'studio', role: 'owner' }] as const;

const margin = {
  model: 'm',
  priceName: 'standard',
  provider: 'studio',
  tasks: 5,
  jobs: 6,
  creditsCharged: 300,
  creditsRefunded: 100,
  costMicros: 50,
  unknownJobs: 0,
  foreignJobs: 0,
};
const creditValue = { micros: 10, currency: 'EUR' } as const;

const cases: readonly (readonly [what: string, shown: object, expected: object])[] = [
  [
    'an entry of the ledger',
    presentLedgerEntry({
      entryId: 1,
      taskId: 'task',
      priceName: 'standard',
      kind: 'charge',
      amount: -2,
      balanceAfter: 3,
      reason: 'why',
      createdAt: 4,
    }),
    {
      entryId: 1,
      kind: 'charge',
      amount: -2,
      balanceAfter: 3,
      taskId: 'task',
      priceName: 'standard',
      reason: 'why',
      createTime: 4,
    },
  ],
  [
    'a key',
    presentKey({
      keyId: 'key',
      name: 'name',
      hint: 'vg_a…',
      scopes: ['tasks:read'],
      dialect: 'kie',
      models: ['m'],
      mergeRepeats: true,
      createdAt: 1,
      expiresAt: 2,
      lastUsedAt: 3,
      revokedAt: 4,
    }),
    {
      keyId: 'key',
      name: 'name',
      hint: 'vg_a…',
      scopes: ['tasks:read'],
      dialect: 'kie',
      models: ['m'],
      mergeRepeats: true,
      createTime: 1,
      expireTime: 2,
      lastUseTime: 3,
      revokeTime: 4,
    },
  ],
  [
    'a price',
    presentSetPrice({
      priceId: 1,
      model: 'm',
      priceName: 'standard',
      accountId: 'account',
      accountName: 'studio',
      creditsPerSecond: 2,
      creditsPerVideo: 3,
      effectiveFrom: 4,
      createdAt: 5,
      who: 'ada',
      reason: 'why',
      state: 'in_force',
    }),
    {
      priceId: 1,
      model: 'm',
      priceName: 'standard',
      accountId: 'account',
      accountName: 'studio',
      creditsPerSecond: 2,
      creditsPerVideo: 3,
      fromTime: 4,
      state: 'in_force',
      reason: 'why',
      who: 'ada',
      createTime: 5,
    },
  ],
  [
    'a top-up, with its receipt for owners',
    presentTopUp(topUp, { isOwner: true }),
    { ...shownTopUp, receiptUrl: 'https://receipt.example' },
  ],
  [
    'a top-up, without its receipt for others',
    presentTopUp(topUp, { isOwner: false }),
    { ...shownTopUp, receiptUrl: null },
  ],
  [
    'a top-up, for operators',
    presentAdminTopUp({ ...topUp, accountName: 'studio' }),
    {
      ...shownTopUp,
      receiptUrl: 'https://receipt.example',
      accountId: 'account',
      accountName: 'studio',
      provider: 'stripe',
      checkoutId: 'checkout',
      paymentId: 'payment',
      settledBy: 'event',
    },
  ],
  [
    'a payment that was not granted',
    presentUngrantedPayment({
      checkoutId: 'checkout',
      reason: 'amount_differs',
      topUpId: 'top-up',
      accountId: 'account',
      foundAt: 1,
    }),
    { checkoutId: 'checkout', topUpId: 'top-up', accountId: 'account', reason: 'amount_differs', foundTime: 1 },
  ],
  [
    'an announcement',
    presentAnnouncement({ text: 'text', level: 'warning', link: 'https://link.example', endsAt: 1 }),
    { text: 'text', level: 'warning', link: 'https://link.example', endTime: 1 },
  ],
  ['a member', presentMember(person), shownMember],
  [
    'a person, for operators',
    presentPerson({ ...person, isOperator: true, createdAt: 3, lastSignInAt: 4, accounts }),
    { ...shownMember, operator: { isOperator: true, accounts, createTime: 3, lastSignInTime: 4 } },
  ],
  [
    'a page of security events',
    presentSecurityEventPage(
      [
        {
          eventId: 9,
          kind: 'signed_in',
          userId: 'user',
          email: 'a@b.example',
          accountId: 'account',
          actor: 'ada',
          address: '192.0.2.1',
          userAgent: 'browser',
          createdAt: 1,
        },
        { eventId: 8, kind: 'signed_in', createdAt: 2 },
      ],
      1,
    ),
    {
      events: [
        {
          eventId: 9,
          kind: 'signed_in',
          userId: 'user',
          email: 'a@b.example',
          accountId: 'account',
          actor: 'ada',
          address: '192.0.2.1',
          userAgent: 'browser',
          details: {},
          createTime: 1,
        },
      ],
      nextCursor: '9',
    },
  ],
  [
    'a request of the log',
    presentLoggedRequest({
      requestId: 'request',
      endedAt: 1,
      durationMs: 2,
      method: 'POST',
      endpoint: '/mcp',
      tool: 'get_video',
      status: 402,
      errorCode: 'insufficient_credits',
      taskId: 'task',
      createdBy: { kind: 'key', id: 'key', name: 'name' },
    }),
    {
      requestId: 'request',
      time: 1,
      durationMs: 2,
      method: 'POST',
      endpoint: '/mcp',
      tool: 'get_video',
      status: 402,
      error: 'insufficient_credits',
      taskId: 'task',
      createdBy: { kind: 'key', id: 'key', name: 'name' },
    },
  ],
  ['a margin', presentMargin(margin, { creditValue }), { ...margin, revenueMicros: 2_000, marginMicros: 1_950 }],
  [
    'a margin of a job of unknown cost',
    presentMargin({ ...margin, unknownJobs: 1 }, { creditValue }),
    { ...margin, unknownJobs: 1, revenueMicros: 2_000, marginMicros: null },
  ],
  [
    'a margin of a job in another currency',
    presentMargin({ ...margin, foreignJobs: 1 }, { creditValue }),
    { ...margin, foreignJobs: 1, revenueMicros: 2_000, marginMicros: null },
  ],
  [
    'booked credits',
    presentBookedCredits({ section: 'top_up', entries: 2, credits: 3 }, { creditValue }),
    { section: 'top_up', entries: 2, credits: 3, valueMicros: 30, isRevenue: true },
  ],
];

for (const [what, shown, expected] of cases) {
  test(`${what} has each value under its documented name`, () => assert.deepEqual(shown, expected));
}
