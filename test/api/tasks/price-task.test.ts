import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { v7 as uuidv7 } from 'uuid';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { resolveCatalogue } from '../../../src/catalogue/file/resolve-catalogue.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';
import { insertBackdatedPrice } from '../../support/tasks/backdated-price.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { askWith, createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';

const model = 'sold';
const image = 'https://media.example/a.png';
const data = {
  providers: { box: { kind: 'own', baseUrl: 'http://upstream.example' } },
  models: [
    {
      model,
      title: 'Sold',
      providers: ['box'],
      input: {
        resolution: { values: ['720p', '1080p'], default: '720p' },
        duration: { min: 4, max: 15 },
        ratio: { values: ['16:9'] },
        generateAudio: { default: true },
        imageUrls: { max: 2 },
        firstFrameUrl: {},
        seed: {},
        options: { tier: { type: 'string', values: ['std', 'pro'], default: 'std' } },
      },
      prices: [
        { when: { resolution: '1080p', generateAudio: false }, creditsPerSecond: 70 },
        { when: { resolution: '1080p' }, creditsPerSecond: 82 },
        { name: 'from a picture', when: { firstFrameUrl: 'present' }, creditsPerVideo: 300 },
        { when: { options: { tier: 'pro' } }, creditsPerSecond: 50, creditsPerVideo: 7 },
        { when: { imageUrls: 'present' }, creditsPerSecond: 45, from: '2999-01-01T00:00:00Z' },
        { creditsPerSecond: 41 },
      ],
    },
  ],
};

let service: HttpService;
let operator: TestOperator;
before(async () => {
  const { catalogue, problems } = resolveCatalogue(data);
  assert.deepEqual(problems, []);
  assert.ok(catalogue);
  service = await startHttpService({ catalogue: () => catalogue });
  operator = await createTestOperator(service);
});
after(() => service.close());

const bodyOf = (input: object, more: object = {}) => ({ model, input: { prompt: 'a lighthouse', ...input }, ...more });
const quote = (key: string, body: unknown): Promise<Answer> =>
  askWith(service, key)('POST', '/api/v1/jobs/price', { body });

const cases: readonly (readonly [input: object, name: string, perSecond: number, perVideo: number, credits: number])[] =
  [
    [{}, 'standard', 41, 0, 5 * 41],
    [{ duration: 6.5 }, 'standard', 41, 0, 7 * 41],
    [{ resolution: '1080p' }, '1080p', 82, 0, 5 * 82],
    [{ resolution: '1080p', generateAudio: false, options: { tier: 'pro' } }, '1080p silent', 70, 0, 5 * 70],
    [{ firstFrameUrl: image, duration: 15 }, 'from a picture', 0, 300, 300],
    [{ options: { tier: 'pro' }, duration: 4 }, 'tier pro', 50, 7, 4 * 50 + 7],
    [{ imageUrls: [image] }, 'standard', 41, 0, 5 * 41],
  ];

for (const [input, priceName, creditsPerSecond, creditsPerVideo, credits] of cases) {
  test(`200 ${JSON.stringify(input)} costs ${credits} credits at the price ${priceName}, quoted and charged`, async () => {
    const { key } = await service.newAccount(1_000);
    const quoted = await dataOf(quote(key, bodyOf(input)));
    assert.deepEqual(quoted, { model, priceName, creditsPerSecond, creditsPerVideo, credits });
    const { json } = await service.create(key, bodyOf(input));
    assert.equal(json.data['creditsCharged'], credits);
  });
}

test('200 a quote charges nothing, needs no balance and no scope of its own', async () => {
  const { accountId, key } = await service.newAccount(0, ['credits:read']);
  assert.equal((await dataOf(quote(key, bodyOf({}))))['credits'], 205);
  const { entries } = await dataOf(askWith(service, key)('GET', '/api/v1/credits'));
  assert.deepEqual(entries, []);
  assert.ok(!service.started.some((task) => task.accountId === accountId));
});

test("200 operators' amounts of a price count for its name alone, in quote, charge and list", async () => {
  const [{ accountId, key }, other] = [await service.newAccount(10_000), await service.newAccount(10_000)];
  const high = bodyOf({ resolution: '1080p' });
  await insertBackdatedPrice(service.database.db, {
    model,
    accountId,
    priceName: '1080p',
    creditsPerSecond: 60,
    creditsPerVideo: 5,
    fromMs: 3_000,
  });
  const found = async (who: string, body: object) => (await dataOf(quote(who, body)))['credits'];
  assert.deepEqual([await found(key, high), await found(other.key, high)], [305, 410]);
  assert.deepEqual([await found(key, bodyOf({})), await found(other.key, bodyOf({}))], [205, 205]);
  assert.equal((await service.create(key, high)).json.data['creditsCharged'], 305);
  const { models } = await dataOf(askWith(service, key)('GET', '/api/v1/models'));
  const [{ prices }] = models as [{ prices: object[] }];
  const rate = (creditsPerSecond: number, creditsPerVideo: number, fromTime = 0) => ({
    creditsPerSecond,
    creditsPerVideo,
    fromTime,
  });
  assert.deepEqual(prices, [
    { name: '1080p silent', when: { resolution: '1080p', generateAudio: false }, rates: [rate(70, 0)] },
    { name: '1080p', when: { resolution: '1080p' }, rates: [rate(60, 5, 3_000)] },
    { name: 'from a picture', when: { firstFrameUrl: 'present' }, rates: [rate(0, 300)] },
    { name: 'tier pro', when: { options: { tier: 'pro' } }, rates: [rate(50, 7)] },
    {
      name: 'with imageUrls',
      when: { imageUrls: 'present' },
      rates: [rate(45, 0, Date.parse('2999-01-01T00:00:00Z'))],
    },
    { name: 'standard', when: {}, rates: [rate(41, 0)] },
  ]);
});

test('200 the price that a task was charged is in its detail, ledger, usage, export and margin', async () => {
  await awayFromMidnight();
  const { key } = await service.newAccount(10_000);
  const created = await service.create(key, bodyOf({ options: { tier: 'pro' } }));
  const taskId = String(created.json.data['taskId']);
  await service.create(key, bodyOf({}));
  await failAndRefund(service.database.db, taskId, { failCode: 'timeout', failMsg: 'It took too long.' });
  const ask = askWith(service, key);
  const detail = await dataOf(operator.ask('GET', '/api/admin/v1/tasks/show', { query: { taskId } }));
  assert.equal(detail['priceName'], 'tier pro');
  const { entries } = await dataOf(ask('GET', '/api/v1/credits'));
  const named = (entries as { kind: string; priceName: string | null }[]).map((one) => [one.kind, one.priceName]);
  assert.deepEqual(named, [
    ['refund', 'tier pro'],
    ['charge', 'standard'],
    ['charge', 'tier pro'],
    ['grant', null],
  ]);
  const day = new Date().toISOString().slice(0, 10);
  const { days } = await dataOf(ask('GET', '/api/v1/credits/daily', { query: { from: day, to: day } }));
  const used = (days as Record<string, unknown>[]).map((one) => [one['priceName'], one['charged'], one['refunded']]);
  assert.deepEqual(used, [
    ['standard', 205, 0],
    ['tier pro', 257, 257],
    [null, 0, 0],
  ]);
  const exported = (await ask('GET', '/api/v1/credits/export', { query: { taskId } })).bytes.toString();
  assert.match(
    exported,
    new RegExp(`,refund,257,\\d+,${taskId},tier pro,\r\n.*,charge,-257,\\d+,${taskId},tier pro,\r\n$`),
  );
  const query = { fromTime: String(Date.now() - 3_600_000), toTime: String(Date.now() + 1_000), model };
  const { rows } = await dataOf(operator.ask('GET', '/api/admin/v1/margin', { query }));
  const earned = (rows as Record<string, unknown>[]).find((row) => row['priceName'] === 'tier pro');
  assert.deepEqual([earned?.['provider'], earned?.['creditsCharged'], earned?.['creditsRefunded']], ['none', 257, 257]);
});

test('422 a quote is refused with the errors of a create, without the limits of the account', async () => {
  const { key } = await service.newAccount(0);
  const body = bodyOf({ resolution: '4k', duration: 99, imageUrls: [`http://media.test/uploads/${uuidv7()}`] });
  const [quoted, created] = [await quote(key, body), await service.create(key, body)];
  assert.deepEqual(quoted.json.data, created.json.data);
  assertRefused(quoted, 422, /^input\.resolution/, quoted.json.data);
});

test('200 a key of the dialect kie gets a quote for the request in its spelling', async () => {
  const { accountId } = await service.newAccount(0);
  const made = await createKeyUnchecked(service.database.db, {
    accountId,
    name: 'kie',
    scopes: ['tasks:write'],
    dialect: 'kie',
  });
  assert.ok(made);
  const body = { model, input: { prompt: 'a lighthouse', resolution: '1080p', generate_audio: false } };
  const quoted = await dataOf(quote(made.key, body));
  assert.deepEqual([quoted['priceName'], quoted['credits']], ['1080p silent', 350]);
});

test('503 a model that is not sold at present has no quote', async () => {
  const apart = await startHttpService({ catalogue: service.deps.catalogue, isSold: () => false });
  try {
    const { key } = await apart.newAccount(0);
    const answer = await askWith(apart, key)('POST', '/api/v1/jobs/price', { body: bodyOf({}) });
    assertRefused(answer, 503, /model is unavailable/);
  } finally {
    await apart.close();
  }
});
