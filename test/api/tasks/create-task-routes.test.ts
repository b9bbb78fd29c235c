import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { orderRefusalToHttpError } from '../../../src/api/tasks/create-task-routes.ts';
import type { NewTask } from '../../../src/tasks/accept/acceptance-contract.ts';
import type { OrderRefusal } from '../../../src/tasks/accept/order-task.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';

describe('the attempts of SDKs that count their repeats', () => {
  const taken: NewTask[] = [];
  let service: HttpService;
  before(async () => {
    service = await startHttpService({
      acceptCreate: async (task) => {
        taken.push(task);
        return { kind: 'accepted', taskId: randomUUID(), creditsCharged: 1 };
      },
    });
  });
  after(() => service.close());

  async function attemptOf(key: string, headers: Readonly<Record<string, string>>) {
    const { status, bytes } = await service.create(key, plainRequest, headers);
    assert.equal(status, 200, bytes.toString());
    const { attempt, repeatWindowMs } = taken.at(-1) ?? assert.fail('nothing was accepted');
    return { attempt, repeatWindowMs };
  }

  const [count, timeout, readTimeout] = [
    'x-stainless-retry-count',
    'x-stainless-timeout',
    'x-stainless-read-timeout',
  ] as const;
  const cases: readonly (readonly [Readonly<Record<string, string>>, number | undefined, number | undefined])[] = [
    [{}, undefined, undefined],
    [{ [timeout]: '30' }, undefined, undefined],
    ...['x', '-1', '1.0', '10000'].map((text) => [{ [count]: text }, undefined, undefined] as const),
    [{ [count]: '0' }, 0, undefined],
    [{ [count]: '1' }, 1, 660_000],
    [{ [count]: '2' }, 2, 2 * 660_000],
    [{ [count]: '10' }, 10, 10 * 660_000],
    [{ [count]: '11' }, 11, 10 * 660_000],
    [{ [count]: '1', [timeout]: '30' }, 1, 90_000],
    [{ [count]: '3', [readTimeout]: '1200.5' }, 3, 3 * 1_260_500],
    [{ [count]: '1', [timeout]: '30', [readTimeout]: '40' }, 1, 90_000],
    [{ [count]: '1', [timeout]: '3600' }, 1, 3_660_000],
    [{ [count]: '1', [timeout]: '3601' }, 1, 3_660_000],
    ...['soon', '-30', '1234567'].map((text) => [{ [count]: '1', [timeout]: text }, 1, 660_000] as const),
  ];
  test('are those of their headers, in a window of their timeouts and pauses', async () => {
    const { key } = await service.newAccount(1000);
    for (const [headers, attempt, repeatWindowMs] of cases)
      assert.deepEqual(await attemptOf(key, headers), { attempt, repeatWindowMs }, JSON.stringify(headers));
  });

  test('are merged by a key that merges repeats, in the same window', async () => {
    const { accountId } = await service.newAccount(1000);
    const merging = { accountId, name: 'player', scopes: ['tasks:write'], mergeRepeats: true } as const;
    const { key } = (await createKeyUnchecked(service.database.db, merging)) ?? assert.fail();
    for (const [headers, , repeatWindowMs] of cases)
      assert.deepEqual(await attemptOf(key, headers), { attempt: 'merged', repeatWindowMs }, JSON.stringify(headers));
  });
});

test('a create that waits for the end is answered as accepted if its task cannot be read or shown afterwards', async (t) => {
  const service = await startHttpService();
  t.after(() => service.close());
  const { database } = service;
  const run: typeof database.db.run = (statement, values) =>
    statement.name === 'find-task'
      ? Promise.reject(new Error('the database is away'))
      : database.db.run(statement, values);
  const progressOf = () => Promise.reject(new Error('a fault of ours'));
  const taskWaiters = { ...service.deps.taskWaiters, wait: () => Promise.resolve() };
  for (const fault of [{ db: { ...database.db, run } }, { progressOf }]) {
    const faulty = await startHttpService({ database, taskWaiters, ...fault });
    try {
      const { key } = await faulty.newAccount(1_000);
      const { status, json, headers } = await faulty.create(key, plainRequest, { prefer: 'wait=1' });
      assert.deepEqual([status, Object.keys(json.data)], [200, ['taskId', 'creditsCharged']], json.msg);
      assert.equal(headers['preference-applied'], 'wait=1');
    } finally {
      await faulty.close();
    }
  }
});

const rate = { limit: { quota: 7, windowMs: 1_000 }, left: { remaining: 0, nextSeconds: 3, nextInMs: 2_500 } };
const cap = { subject: 'member', subjectId: 'user', period: 'month', credits: 11, spent: 12, resetsAt: 13 } as const;
const shownCap = { subject: 'member', period: 'month', cap: 11, spent: 12, required: 14, resetTime: 13 };
const errors = [{ path: 'input.prompt', message: 'is required' }];
const cause = new Error('the commit was lost');

const refusals: readonly (readonly [refusal: OrderRefusal, code: string, data?: object])[] = [
  [{ kind: 'invalid_request', errors, hint: undefined }, 'invalid_request', { errors }],
  [{ kind: 'model_not_allowed', model: 'a', allowed: ['b'] }, 'model_not_allowed'],
  [{ kind: 'model_unavailable' }, 'model_unavailable'],
  [{ kind: 'content_refused', category: 'violence' }, 'content_refused', { category: 'violence' }],
  [{ kind: 'moderation_unavailable' }, 'moderation_unavailable'],
  [{ kind: 'disk_full' }, 'disk_full'],
  [{ kind: 'key_reused' }, 'idempotency_key_reused'],
  [{ kind: 'content_deleted' }, 'content_deleted'],
  [{ kind: 'insufficient_credits', required: 9, balance: 8 }, 'insufficient_credits', { required: 9, balance: 8 }],
  [{ kind: 'spend_cap_reached', required: 14, cap }, 'spend_cap_reached', shownCap],
  [
    { kind: 'spend_cap_reached', required: 14, cap: { ...cap, period: 'total', resetsAt: undefined } },
    'spend_cap_reached',
    { ...shownCap, period: 'total', resetTime: null },
  ],
  [{ kind: 'too_many_unfinished_tasks', limit: 5 }, 'too_many_unfinished_tasks', { limit: 5 }],
  [{ kind: 'too_fast', rate }, 'rate_limited'],
  [{ kind: 'key_inactive' }, 'unauthorized'],
  [{ kind: 'account_suspended' }, 'account_suspended'],
  [{ kind: 'acceptance_unknown', cause }, 'acceptance_unknown'],
  [{ kind: 'acceptance_reverted', cause }, 'acceptance_reverted'],
];

for (const [refusal, code, data = {}] of refusals)
  test(`an order refused by ${refusal.kind} is the error ${code} with ${JSON.stringify(data)}`, () => {
    const error = orderRefusalToHttpError(refusal);
    assert.deepEqual([error.code, error.envelope.error, error.envelope.data], [code, code, data]);
    assert.equal(error.cause, 'cause' in refusal ? cause : undefined, 'the cause is logged');
  });

test('the error of an order above the rate of creates has the limit and the time until the next', () => {
  const { headers } = orderRefusalToHttpError({ kind: 'too_fast', rate });
  assert.equal(headers['RateLimit-Policy'], '"creates";q=7;w=1');
  assert.equal(headers['RateLimit'], '"creates";r=0;t=3');
  assert.equal(headers['Retry-After'], '3');
});
