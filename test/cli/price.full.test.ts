import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createAccount } from '../../src/accounts/accounts.ts';
import { listActions } from '../../src/operators/operator-actions.ts';
import { insertDecidedPrice } from '../support/decided-price.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { videogen } from '../support/videogen.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'test', credits: 0 });
});
after(() => database.close());

async function run(args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> {
  const env = { ...process.env, DATABASE_URL: database.url, VIDEOGEN_SECRET: 's'.repeat(32), ...more };
  const { code, stdout, stderr } = await videogen(env, 'price', ...args);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

async function price(...args: readonly string[]): Promise<Record<string, unknown>> {
  // A command with --json prints one JSON object.
  return JSON.parse(await run([...args, '--json'])) as Record<string, unknown>;
}

const why = ['--reason', 'a contract'];

test('a price is set for one account, announced, ended and withdrawn, and every step is in the audit log', async () => {
  const from = '2099-01-01T00:00:00.000Z';
  const set = await price('set', 'videogen-2.0', '29', '--account', accountId, '--from', from, ...why);
  const expected = {
    model: 'videogen-2.0',
    priceName: 'standard',
    accountId,
    accountName: 'test',
    creditsPerSecond: 29,
    creditsPerVideo: 0,
    fromTime: Date.parse(from),
    state: 'announced',
  };
  const who = `${userInfo().username} at the command line`;
  const { priceId, createTime, ...shown } = set;
  assert.deepEqual(shown, { ...expected, reason: 'a contract', who });
  const { models, prices } = await price('list', '--account', accountId);
  const [standard] = models as Record<string, unknown>[];
  const rates = [
    { creditsPerSecond: 41, creditsPerVideo: 0, fromTime: 0 },
    { creditsPerSecond: 29, creditsPerVideo: 0, fromTime: Date.parse(from) },
  ];
  assert.deepEqual(standard?.['prices'], [{ name: 'standard', when: {}, rates }]);
  assert.deepEqual(prices, [{ priceId, createTime, ...shown }]);
  const end = await price('set', 'videogen-2.0', 'default', '--account', accountId, '--from', '90d', ...why);
  assert.equal(end['creditsPerSecond'], null);
  assert.equal((await price('withdraw', String(priceId), '--reason', 'a slip'))['state'], 'withdrawn');
  const actions = await listActions(database.db, { accountId, limit: 10 });
  assert.deepEqual(
    actions.map(({ action }) => action),
    ['prices.withdraw', 'prices.set', 'prices.set'],
  );
});

test('an invalid price is refused with its reason', async () => {
  await assert.rejects(price('set', 'videogen-2-fast', '29', ...why), /did you mean videogen-2.0-fast\?/);
  await assert.rejects(
    price('set', 'videogen-2.0', '0', ...why),
    /credits per second must be at least 1, or --per-video must be/,
  );
  await assert.rejects(price('set', 'videogen-2.0', '1.5', ...why), /from 0 to 1000000/);
  await assert.rejects(price('set', 'videogen-2.0', '29'), /--reason/);
  await assert.rejects(price('set', 'videogen-2.0', '29', '--reason', ' '), /1 to 500 characters/);
  await assert.rejects(
    price('set', 'videogen-2.0', '29', '--from', '2020-01-01T00:00:00Z', ...why),
    /--from must not be in the past/,
  );
  const unknown = '01900000-0000-7000-8000-000000000000';
  await assert.rejects(price('set', 'videogen-2.0', '29', '--account', unknown, ...why), /account not found/);
  await assert.rejects(price('list', '--account', unknown), /account not found/);
  await assert.rejects(price('withdraw', '999', ...why), /price not found: 999/);
});

test('of a model with several prices one is set by its name, and all are listed in the order of decision', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-prices-'));
  const file = join(folder, 'models.json');
  const input = {
    resolution: { values: ['720p', '1080p'] },
    duration: { min: 4, max: 15 },
    ratio: { values: ['16:9'] },
  };
  const prices = [
    { when: { resolution: '1080p' }, creditsPerSecond: 82 },
    { creditsPerSecond: 41, creditsPerVideo: 10 },
    { creditsPerVideo: 90, from: '2099-01-01T00:00:00Z' },
  ];
  await writeFile(
    file,
    JSON.stringify({ models: [{ model: 'm', title: 'M', input: { ...input, generateAudio: {} }, prices }] }),
  );
  const own = { VIDEOGEN_MODELS: file };
  await assert.rejects(
    run(['set', 'm', '29', ...why], own),
    /--price: is required, because m has several prices: 1080p, standard/,
  );
  await assert.rejects(
    run(['set', 'm', '29', '--price', '1080', ...why], own),
    /--price: unknown price, did you mean 1080p\?/,
  );
  await assert.rejects(
    run(['set', 'm', 'default', '--price', '1080p', '--per-video', '5', ...why], own),
    /--per-video/,
  );
  const set = await run(
    ['set', 'm', '0', '--price', '1080p', '--per-video', '500', '--from', '2098-01-01T00:00:00Z', ...why],
    own,
  );
  assert.match(set, /^\d+ {2}m {2}1080p {2}all accounts {2}500 credits per video {2}2098-01-01T00:00:00/);
  const [first, second] = (await run(['list'], own)).split('\n');
  assert.match(first ?? '', /^m, 1080p: 82 credits per second, 500 credits per video from 2098-01-01T/);
  assert.match(
    second ?? '',
    /^m, standard: 41 credits per second plus 10 credits per video, 90 credits per video from 2099-01-01T/,
  );
  await rm(folder, { recursive: true });
});

test('a price that has left the catalogue can be ended, and not set', async () => {
  const removed = { model: 'removed', priceName: 'full HD' };
  await insertDecidedPrice(database.db, { ...removed, creditsPerSecond: 70, fromMs: 3_000 });
  await assert.rejects(price('set', 'removed', '29', '--price', 'full HD', ...why), /unknown model/);
  const end = await price('set', 'removed', 'default', '--price', 'full HD', ...why);
  assert.deepEqual([end['priceName'], end['creditsPerSecond']], ['full HD', null]);
});
