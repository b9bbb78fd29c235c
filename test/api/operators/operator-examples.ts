import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type HttpService, plainRequest } from '../../support/service/http-service.ts';
import type { TestOperator } from '../../support/service/operator-key.ts';
import { newPerson } from '../../support/service/person.ts';
import { owedCallback } from '../../support/tasks/owed-callback.ts';
import { scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { listProviderSwitches } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { setPrice } from '../../../src/credits/prices/operator-prices.ts';
import { listUnconfirmedSignUps, requestSignUp } from '../../../src/credits/sign-up/request-sign-up.ts';

/** A body that changes something, one that is refused, and whether doing it again changes anything. */
export type Example = {
  readonly does: () => Promise<Record<string, unknown>>;
  readonly refused: Record<string, unknown>;
  readonly changesAgain?: true;
};

const reason = 'a good reason';
const unknownId = randomUUID();

/** Returns one for each operation that changes something. */
export function createExamples(service: HttpService, operator: TestOperator): Readonly<Record<string, Example>> {
  const newAccountId = async () => (await service.newAccount(1000)).accountId;

  async function newTaskId(): Promise<string> {
    const { key } = await service.newAccount(1000);
    return String((await service.create(key, plainRequest)).json.data['taskId']);
  }

  async function newKeyId(): Promise<string> {
    const accountId = await newAccountId();
    const created = await createKeyUnchecked(service.database.db, { accountId, name: 'a', scopes });
    assert.ok(created);
    return created.keyId;
  }

  async function newSignUp(): Promise<string> {
    const { db } = service.database;
    const policy = {
      mode: 'open',
      domains: [],
      credits: 0,
      secrets: ['s'],
      hourlyLimit: 1_000,
      hourlyLimitPerAddress: 1_000,
    } as const;
    const email = `${randomUUID()}@example.com`;
    assert.equal(await requestSignUp(db, policy, { email, address: '192.0.2.1' }), 'requested');
    const found = (await listUnconfirmedSignUps(db, 1_000)).find((one) => one.email === email);
    return found?.linkId ?? assert.fail();
  }

  const { model } = plainRequest;

  async function newPriceId(): Promise<number> {
    const fromMs = Date.now() + 3_600_000;
    const setting = await setPrice(service.database.db, {
      model,
      accountId: undefined,
      priceName: 'standard',
      creditsPerSecond: 30,
      creditsPerVideo: 0,
      fromMs,
      who: 'a',
      reason,
    });
    assert.ok(setting.kind === 'set');
    return setting.price.priceId;
  }

  async function newUserId(): Promise<string> {
    return (await newPerson(service)).userId;
  }

  async function otherState(): Promise<string> {
    const [now] = await listProviderSwitches(service.database.db);
    return now?.state === 'draining' ? 'off' : 'draining';
  }

  return {
    adminCreateAccount: {
      does: async () => ({ name: 'new', credits: 7 }),
      refused: { name: '' },
      changesAgain: true,
    },
    adminSuspendAccount: {
      does: async () => ({ accountId: await newAccountId(), reason }),
      refused: { accountId: unknownId, reason },
    },
    adminUnsuspendAccount: {
      does: async () => {
        const accountId = await newAccountId();
        await operator.ask('POST', '/api/admin/v1/accounts/suspend', { body: { accountId, reason } });
        return { accountId, reason };
      },
      refused: { accountId: unknownId, reason },
    },
    adminLimitAccount: {
      does: async () => ({ accountId: await newAccountId(), maxUnfinishedTasks: 3 }),
      refused: { accountId: unknownId, maxUnfinishedTasks: 3 },
    },
    adminRenameAccount: {
      does: async () => ({ accountId: await newAccountId(), name: 'Harbor Films' }),
      refused: { accountId: unknownId, name: 'Harbor Films' },
    },
    adminSetSpendCaps: {
      does: async () => ({ accountId: await newAccountId(), month: 500 }),
      refused: { accountId: unknownId, month: 500 },
    },
    adminCreateCodes: {
      does: async () => ({ name: 'spring', credits: 5, codes: 2 }),
      refused: { name: 'spring', credits: 0, codes: 2 },
      changesAgain: true,
    },
    adminWithdrawCodes: {
      does: async () => {
        const batch = { name: 'spring', credits: 5, codes: 2 };
        const { json } = await operator.ask('POST', '/api/admin/v1/codes', { body: batch });
        return { batchId: json.data['batchId'], reason };
      },
      refused: { batchId: unknownId, reason },
    },
    adminGrantCredits: {
      does: async () => ({ accountId: await newAccountId(), credits: 5, reason }),
      refused: { accountId: unknownId, credits: 5, reason },
    },
    adminAdjustCredits: {
      does: async () => ({ accountId: await newAccountId(), amount: -5, reason }),
      refused: { accountId: unknownId, amount: -5, reason },
    },
    adminSetPrice: {
      does: async () => ({ model, creditsPerSecond: 30, accountId: await newAccountId(), reason }),
      refused: { model, creditsPerSecond: 30, accountId: unknownId, reason },
      changesAgain: true,
    },
    adminWithdrawPrice: {
      does: async () => ({ priceId: await newPriceId(), reason }),
      refused: { priceId: 999_999_999, reason },
    },
    adminSetProvider: {
      does: async () => ({ provider: 'preview', state: await otherState(), reason }),
      refused: { provider: 'unknownId', state: 'off', reason },
    },
    adminTestProvider: {
      does: async () => ({ provider: 'preview' }),
      refused: { provider: 'unknownId' },
      changesAgain: true,
    },
    adminRetryTask: {
      does: async () => ({ taskId: await newTaskId(), reason }),
      refused: { taskId: unknownId, reason },
      changesAgain: true,
    },
    adminRetryProvider: {
      does: async () => ({ provider: 'preview', reason }),
      refused: { provider: 'unknownId', reason },
      changesAgain: true,
    },
    adminSetAnnouncement: {
      does: async () => ({ text: 'Maintenance on Sunday', level: 'warning', link: 'https://status.example.com' }),
      refused: { text: '' },
    },
    adminRemoveAnnouncement: {
      does: async () => {
        await operator.ask('POST', '/api/admin/v1/announcement', { body: { text: randomUUID() } });
        return {};
      },
      refused: { nonsense: 1 },
    },
    adminCreateKey: {
      does: async () => ({ accountId: await newAccountId(), name: 'new' }),
      refused: { accountId: unknownId, name: 'new' },
      changesAgain: true,
    },
    adminRevokeKey: { does: async () => ({ keyId: await newKeyId() }), refused: { keyId: unknownId } },
    adminCancelTask: {
      does: async () => ({ taskId: await newTaskId(), reason }),
      refused: { taskId: unknownId, reason },
    },
    adminCancelTasks: {
      does: async () => ({ taskIds: [await newTaskId()], reason }),
      refused: { taskIds: [], reason },
    },
    adminDeleteTask: {
      does: async () => {
        const { taskId } = await owedCallback(service.database.db, await newAccountId(), 'http://receiver.test/');
        return { taskId, reason };
      },
      refused: { taskId: unknownId, reason },
    },
    adminCloseAccount: {
      does: async () => ({ accountId: await newAccountId(), reason }),
      refused: { accountId: unknownId, reason },
    },
    adminInvitePerson: {
      does: async () => ({ email: 'new@example.com', accountId: await newAccountId(), role: 'viewer' }),
      refused: { email: 'new@example.com', accountId: unknownId },
      changesAgain: true,
    },
    adminWithdrawInvitation: {
      does: async () => {
        const body = { email: 'new@example.com', isOperator: true };
        const { json } = await operator.ask('POST', '/api/admin/v1/people/invite', { body });
        return { linkId: json.data['linkId'] };
      },
      refused: { linkId: unknownId },
    },
    adminCreateSignUpLink: {
      does: async () => ({ linkId: await newSignUp() }),
      refused: { linkId: unknownId },
      changesAgain: true,
    },
    adminResetPassword: {
      does: async () => ({ userId: await newUserId() }),
      refused: { userId: unknownId },
      changesAgain: true,
    },
    adminDisablePerson: { does: async () => ({ userId: await newUserId() }), refused: { userId: unknownId } },
    adminEnablePerson: {
      does: async () => {
        const userId = await newUserId();
        await operator.ask('POST', '/api/admin/v1/people/disable', { body: { userId } });
        return { userId };
      },
      refused: { userId: unknownId },
    },
    adminErasePerson: { does: async () => ({ userId: await newUserId() }), refused: { userId: unknownId } },
    adminEndSessions: { does: async () => ({ userId: await newUserId() }), refused: { userId: unknownId } },
    adminSetOperator: {
      does: async () => ({ userId: await newUserId(), isOperator: true }),
      refused: { userId: unknownId, isOperator: true },
    },
    adminRedeliverCallback: {
      does: async () => ({
        taskId: (await owedCallback(service.database.db, await newAccountId(), 'http://receiver.test/')).taskId,
      }),
      refused: { taskId: unknownId },
      changesAgain: true,
    },
  };
}
