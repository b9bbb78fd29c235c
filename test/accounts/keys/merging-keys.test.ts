import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdRepeatWindow } from '../../support/service/repeat-merging.ts';
import { useKeys } from './keys-stage.ts';

// Clients that repeat a create whose response was lost and cannot mark it get an API key that merges repeats.

const { service, post, made, listed, owner } = useKeys();

const body = (prompt: string) => ({ model: 'videogen-2.0-fast', input: { prompt } });

async function idOf(key: string, prompt: string, headers?: Readonly<Record<string, string>>): Promise<string> {
  const { status, json, bytes } = await service().create(key, body(prompt), headers);
  assert.equal(status, 200, bytes.toString());
  return String(json.data['taskId']);
}

async function tasksOf(create: () => Promise<readonly string[]>): Promise<number> {
  return new Set(await create()).size;
}

// It comes first, because the next test makes all later tasks younger.
test('the repeat of an SDK finds a task as old as its counted attempts can be, by its timeout, which it may state', async () => {
  for (const [count, headers, isFound, what] of [
    ['2', {}, true, 'the second repeat, by the default of ten minutes'],
    ['1', { 'x-stainless-read-timeout': '1200.0' }, true, 'for Python'],
    ['1', { 'x-stainless-timeout': '1200' }, true, 'for Node'],
    ['1', { 'x-stainless-timeout': '30' }, false, 'by a shorter timeout'],
    ['0', {}, false, 'a first attempt'],
  ] as const) {
    const { key, accountId } = await owner();
    const first = await idOf(key, 'a pier');
    const text = `update tasks set created_at = created_at - interval '11 minutes' where account_id = $1`;
    await service().database.db.run({ name: 'test-age-by-timeout', text }, [accountId]);
    const found = await idOf(key, 'a pier', { 'x-stainless-retry-count': count, ...headers });
    assert.equal(found === first, isFound, what);
  }
});

test('a key that merges repeats finds a task as old as the counted attempts of an SDK can be, too', async () => {
  const account = await owner();
  const { key } = await made(post(account.key, '', { name: 'player', mergeRepeats: true }));
  const first = await idOf(key, 'a pier');
  const text = `update tasks set created_at = created_at - interval '11 minutes' where account_id = $1`;
  await service().database.db.run({ name: 'test-age-by-timeout', text }, [account.accountId]);
  assert.equal(await idOf(key, 'a pier', { 'x-stainless-retry-count': '2' }), first);
});

test('identical creates by a key that merges repeats are one task, one after another and at the same time', async () => {
  await holdRepeatWindow(service().database.db);
  const account = await owner();
  const { key } = await made(post(account.key, '', { name: 'player', mergeRepeats: true }));
  const sequential = async () => [await idOf(key, 'a lighthouse'), await idOf(key, 'a lighthouse')];
  assert.equal(await tasksOf(sequential), 1);
  const concurrent = () => Promise.all(Array.from({ length: 8 }, () => idOf(key, 'a harbor')));
  assert.equal(await tasksOf(concurrent), 1);
});

test('other requests, other keys of the account and requests with an Idempotency-Key are tasks of their own', async () => {
  const account = await owner();
  const { key } = await made(post(account.key, '', { name: 'player', mergeRepeats: true }));
  const ids = [
    await idOf(key, 'a lighthouse'),
    await idOf(key, 'another lighthouse'),
    await idOf(account.key, 'a lighthouse'),
    await idOf(account.key, 'a lighthouse'),
    await idOf(key, 'a lighthouse', { 'Idempotency-Key': 'one' }),
    await idOf(key, 'a lighthouse', { 'Idempotency-Key': 'two' }),
  ];
  assert.equal(new Set(ids).size, ids.length);
});

test('a key merges repeats only if it was created so; its successor does, too', async () => {
  const { key } = await owner();
  const plain = await made(post(key, '', { name: 'plain' }));
  const merging = await made(post(key, '', { name: 'merging', mergeRepeats: true }));
  const next = await made(post(key, '/rotate', { keyId: merging.keyId }));
  const merges = new Map((await listed(key)).map(({ keyId, mergeRepeats }) => [keyId, mergeRepeats]));
  assert.deepEqual(
    [plain, merging, next].map(({ keyId }) => merges.get(keyId)),
    [false, true, true],
  );
});

for (const mergeRepeats of ['true', 1]) {
  test(`422 mergeRepeats: ${JSON.stringify(mergeRepeats)}`, async () => {
    const { key } = await owner();
    const { status, json } = await post(key, '', { name: 'a', mergeRepeats });
    assert.equal(status, 422);
    assert.match(json.msg, /mergeRepeats: must be true or false/);
  });
}
