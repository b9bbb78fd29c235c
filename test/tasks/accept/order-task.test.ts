import { standardModelInput } from '../../../src/catalogue/input/task-input.ts';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { readBalanceAndEntries } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { insertBackdatedPrice } from '../../support/tasks/backdated-price.ts';
import { standardPrice } from '../../support/tasks/tasks.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { catalogueOf, type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const charge = 165;
const { model, input } = plainRequest;

async function balanceOf(accountId: string): Promise<number | undefined> {
  return (await findAccount(service.database.db, accountId))?.balance;
}

async function taskCount(accountId: string): Promise<number> {
  const count = { name: 'count-tasks', text: 'select count(*)::int as tasks from tasks where account_id = $1' };
  const [row] = await service.database.db.run<{ tasks: number }>(count, [accountId]);
  return row?.tasks ?? NaN;
}

/** A refused create changes neither the ledger nor the workflows. */
async function assertUntouched(accountId: string, credits: number): Promise<void> {
  assert.equal(await balanceOf(accountId), credits);
  assert.equal(await taskCount(accountId), 0);
  assert.ok(!service.started.some((task) => task.accountId === accountId));
}

async function setAccount(accountId: string, change: string): Promise<void> {
  const name = `test-set-account-${change.replaceAll(/\W/g, '')}`;
  await service.database.db.run({ name, text: `update accounts set ${change} where id = $1` }, [accountId]);
}

test('200 a task is charged, stored with its defaults and handed to the engine before the answer', async () => {
  const { accountId, key } = await service.newAccount(1000);
  const answer = await service.create(key, plainRequest);
  assert.equal(answer.status, 200);
  const { code, msg, data } = answer.json;
  const taskId = String(data['taskId']);
  assert.deepEqual({ code, msg, data }, { code: 200, msg: 'success', data: { taskId, creditsCharged: charge } });
  assert.match(taskId, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  assert.ok(
    service.started.some((task) => task.taskId === taskId && task.accountId === accountId && task.model === model),
  );
  const task = await findTask(service.database.db, taskId);
  assert.equal(task?.state, 'waiting');
  assert.deepEqual(task?.param.input, {
    ...input,
    resolution: '720p',
    duration: 5,
    ratio: '16:9',
    generateAudio: true,
    imageUrls: [],
  });
  assert.equal(await balanceOf(accountId), 1000 - charge);
  const [entry] = (await readBalanceAndEntries(service.database.db, { accountId, limit: 1 })).entries;
  assert.deepEqual([entry?.kind, entry?.amount, entry?.taskId], ['charge', -charge, taskId]);
  assert.equal(answer.headers['idempotency-replayed'], undefined);
});

for (const [request, credits] of [
  [{ model, input: { ...input, duration: 3.5 } }, 4 * 33],
  [{ model, input: { ...input, duration: 15.49, generateAudio: false, imageUrls: ['https://x.test/a.png'] } }, 15 * 33],
  [{ model: 'videogen-2.0', input }, 5 * 41],
] as const) {
  test(`200 ${JSON.stringify(request)} costs ${credits} credits`, async () => {
    const { accountId, key } = await service.newAccount(1000);
    assert.equal((await service.create(key, request)).json.data['creditsCharged'], credits);
    assert.equal(await balanceOf(accountId), 1000 - credits);
  });
}

test('200 the price in force counts, and stays on the task when the price changes', async () => {
  const prices = standardPrice(
    { creditsPerSecond: 5, fromMs: 0 },
    { creditsPerSecond: 10, fromMs: 2_000 },
    { creditsPerSecond: 15, fromMs: Date.now() + 3_600_000 },
  );
  const catalogue = catalogueOf([
    { model, title: '', input: standardModelInput, prices, providers: ['preview'], deadlineMs: 1 },
  ]);
  const own = await startHttpService({ catalogue: () => catalogue });
  try {
    const { key } = await own.newAccount(1000);
    const headers = { 'idempotency-key': 'dated' };
    assert.equal((await own.create(key, plainRequest, headers)).json.data['creditsCharged'], 50);
    await insertBackdatedPrice(own.database.db, { model, creditsPerSecond: 20, fromMs: 1_000 });
    assert.equal((await own.create(key, plainRequest)).json.data['creditsCharged'], 100);
    assert.equal((await own.create(key, plainRequest, headers)).json.data['creditsCharged'], 50);
  } finally {
    await own.close();
  }
});

test('200 a prompt of 5000 emoji comes back letter by letter', async () => {
  const { key } = await service.newAccount(1000);
  const prompt = '🎬'.repeat(5000);
  const { json } = await service.create(key, { model, input: { prompt } });
  const record = await service.recordInfo(key, String(json.data['taskId']));
  assert.equal((await findTask(service.database.db, String(json.data['taskId'])))?.param.input.prompt, prompt);
  assert.match(record.bytes.toString(), /🎬{5000}/u);
});

test('200 the same Idempotency-Key and body, spelled differently, returns the first response again: one task, one charge', async () => {
  const { accountId, key } = await service.newAccount(1000);
  const headers = { 'idempotency-key': 'order-17' };
  const first = await service.create(key, plainRequest, headers);
  const spelt = {
    input: { duration: 5.2, ...input, ratio: null, generateAudio: true, imageUrls: [] },
    callBackUrl: null,
    model,
  };
  const second = await service.create(key, spelt, headers);
  assert.deepEqual(second.json, first.json);
  assert.equal(first.headers['idempotency-replayed'], undefined);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  assert.equal(await taskCount(accountId), 1);
  assert.equal(await balanceOf(accountId), 1000 - charge);
});

test('200 a replay returns the task also with a balance of zero and no free task slot', async () => {
  const { accountId, key } = await service.newAccount(charge);
  const headers = { 'idempotency-key': 'k' };
  const first = await service.create(key, plainRequest, headers);
  await setAccount(accountId, 'max_unfinished_tasks = 0');
  assert.equal(await balanceOf(accountId), 0);
  assert.deepEqual((await service.create(key, plainRequest, headers)).json, first.json);
});

test('200 the same Idempotency-Key of two accounts makes two tasks', async () => {
  const [a, b] = [await service.newAccount(1000), await service.newAccount(1000)];
  const headers = { 'idempotency-key': 'shared' };
  const first = await service.create(a.key, plainRequest, headers);
  const second = await service.create(b.key, plainRequest, headers);
  assert.equal(second.status, 200);
  assert.notEqual(first.json.data['taskId'], second.json.data['taskId']);
});

test('200 without an Idempotency-Key two identical requests are two tasks', async () => {
  const { accountId, key } = await service.newAccount(1000);
  await Promise.all([service.create(key, plainRequest), service.create(key, plainRequest)]);
  assert.equal(await taskCount(accountId), 2);
  assert.equal(await balanceOf(accountId), 1000 - 2 * charge);
});

test('200 identical concurrent creates on two replicas make one task and one charge', async () => {
  const other = await startHttpService({ database: service.database });
  try {
    for (let round = 0; round < 5; round += 1) {
      const { accountId, key } = await service.newAccount(1000);
      const headers = { 'idempotency-key': `round-${round}` };
      const replicas = [service, other, service, other, service, other];
      const answers = await Promise.all(replicas.map((replica) => replica.create(key, plainRequest, headers)));
      assert.deepEqual(
        answers.map(({ status }) => status),
        replicas.map(() => 200),
      );
      assert.equal(new Set(answers.map(({ json }) => json.data['taskId'])).size, 1);
      assert.equal(answers.filter(({ headers: h }) => h['idempotency-replayed'] === 'true').length, answers.length - 1);
      assert.equal(await taskCount(accountId), 1);
      assert.equal(await balanceOf(accountId), 1000 - charge);
    }
  } finally {
    await other.close();
  }
});

test('402 of 50 concurrent creates with credits for 10, exactly 10 are accepted and the remainder is exact', async () => {
  const { accountId, key } = await service.newAccount(10 * charge + 7);
  const answers = await Promise.all(Array.from({ length: 50 }, () => service.create(key, plainRequest)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 10);
  for (const refused of answers.filter(({ status }) => status !== 200)) {
    assert.equal(refused.status, 402);
    assert.equal(refused.json.data['required'], charge);
  }
  assert.equal(await taskCount(accountId), 10);
  assert.equal(await balanceOf(accountId), 7);
  assert.equal(service.started.filter((task) => task.accountId === accountId).length, 10);
});

test('402 a balance one credit short is refused with the required and the available credits', async () => {
  const { accountId, key } = await service.newAccount(charge - 1);
  const answer = await service.create(key, plainRequest);
  assertRefused(answer, 402, /^the balance is too low: 165 credits required, 164 available$/, {
    required: charge,
    balance: charge - 1,
  });
  await assertUntouched(accountId, charge - 1);
});

test('402 does not use up the Idempotency-Key: after a top-up the same request is accepted', async () => {
  const { accountId, key } = await service.newAccount(0);
  const headers = { 'idempotency-key': 'later' };
  assert.equal((await service.create(key, plainRequest, headers)).status, 402);
  await setAccount(accountId, 'balance = 1000');
  assert.equal((await service.create(key, plainRequest, headers)).status, 200);
});

test('403 a key without tasks:write', async () => {
  const { accountId, key } = await service.newAccount(1000, ['tasks:read', 'credits:read']);
  assertRefused(await service.create(key, plainRequest), 403, /lacks the scope tasks:write/);
  await assertUntouched(accountId, 1000);
});

test('403 a suspended account starts nothing, but may go on reading', async () => {
  const { accountId, key } = await service.newAccount(1000);
  const { json } = await service.create(key, plainRequest);
  await setAccount(accountId, 'suspended_at = now()');
  assertRefused(await service.create(key, plainRequest), 403, /suspended/);
  assertRefused(await service.create(key, '{'), 403, /suspended/);
  assert.equal(await taskCount(accountId), 1);
  assert.equal((await service.recordInfo(key, String(json.data['taskId']))).status, 200);
});

test('409 an Idempotency-Key that was used with another body', async () => {
  const { accountId, key } = await service.newAccount(1000);
  const headers = { 'idempotency-key': 'once' };
  await service.create(key, plainRequest, headers);
  for (const other of [
    { model, input: { prompt: `${input.prompt}.` } },
    { model, input: { ...input, duration: 6 } },
    { model: 'videogen-2.0', input },
    { ...plainRequest, callBackUrl: 'https://example.com/' },
  ]) {
    assertRefused(await service.create(key, other, headers), 409, /with a different request/);
  }
  assert.equal(await taskCount(accountId), 1);
  assert.equal(await balanceOf(accountId), 1000 - charge);
});

test('422 all errors of header and body are reported together, the first one as the message', async () => {
  const { accountId, key } = await service.newAccount(1000);
  const invalidInput = { prompt: '', duration: 99, aspectRatio: '1:1', videoUrls: null };
  const body = { model: 'sora', input: invalidInput, callbackurl: 'x' };
  const answer = await service.create(key, body, { 'idempotency-key': 'two words' });
  const errors = [
    { path: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' },
    { path: 'model', message: 'must be one of videogen-2.0, videogen-2.0-fast' },
    { path: 'input.prompt', message: 'must not be empty or only white space' },
    { path: 'input.duration', message: 'must be 4 to 15 seconds (a fraction is rounded to a whole number)' },
    { path: 'input.videoUrls', message: 'reference video is not supported; leave this field out' },
    { path: 'input.aspectRatio', message: 'unknown field, did you mean ratio?' },
    { path: 'callbackurl', message: 'unknown field, did you mean callBackUrl?' },
  ];
  assertRefused(answer, 422, /^Idempotency-Key: must be 1 to 255 visible ASCII characters$/, { errors });
  await assertUntouched(accountId, 1000);
});

for (const [name, value] of [
  ['256 characters', 'k'.repeat(256)],
  ['empty', ''],
  ['a space inside', 'a b'],
  ['not ASCII', 'schlüssel'],
] as const) {
  test(`422 an Idempotency-Key that is ${name}`, async () => {
    const { accountId, key } = await service.newAccount(1000);
    const answer = await service.create(key, plainRequest, { 'idempotency-key': value });
    const errors = [{ path: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }];
    assertRefused(answer, 422, /^Idempotency-Key/, { errors });
    await assertUntouched(accountId, 1000);
  });
}

test('200 an Idempotency-Key of 255 characters', async () => {
  const { key } = await service.newAccount(1000);
  assert.equal((await service.create(key, plainRequest, { 'idempotency-key': '~'.repeat(255) })).status, 200);
});

for (const [name, prompt] of [
  ['5001 emoji', '🎬'.repeat(5001)],
  ['a NUL', 'a\0b'],
  ['a lone surrogate', 'a\ud83c'],
] as const) {
  test(`422 a prompt with ${name}`, async () => {
    const { accountId, key } = await service.newAccount(1000);
    const answer = await service.create(key, { model, input: { prompt } });
    assert.equal(answer.status, 422);
    assert.match(answer.json.msg, /^input\.prompt: /);
    await assertUntouched(accountId, 1000);
  });
}

test('429 an account with too many unfinished tasks gets a Retry-After, and is not charged', async () => {
  const { accountId, key } = await service.newAccount(1000);
  await setAccount(accountId, 'max_unfinished_tasks = 1');
  assert.equal((await service.create(key, plainRequest)).status, 200);
  const answer = await service.create(key, plainRequest);
  assertRefused(answer, 429, /too many unfinished tasks/, { limit: 1 });
  assert.match(String(answer.headers['retry-after']), /^\d+$/);
  assert.equal(await balanceOf(accountId), 1000 - charge);
});
