import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { scopes } from '../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { type HttpService, startHttpService } from '../support/service/http-service.ts';
import { askWith, createTestOperator, type TestOperator } from '../support/service/operator-key.ts';

// A time in a request is in the future by the clock of the service, to the millisecond.

const nowMs = Date.UTC(2100, 0, 1);
let clockMs = nowMs;
let service: HttpService;
let operator: TestOperator;
let account: { readonly accountId: string; readonly key: string };
before(async () => {
  service = await startHttpService({ now: () => clockMs });
  operator = await createTestOperator(service);
  account = await service.newAccount(10, scopes);
});
after(() => service.close());

const own: TestOperator['ask'] = (...request) => askWith(service, account.key)(...request);
const ofOperator: TestOperator['ask'] = (...request) => operator.ask(...request);

for (const [what, ask, path, field, body] of [
  ['a key', own, '/api/v1/keys', 'expireTime', () => ({ name: 'a' })],
  [
    'a key by an operator',
    ofOperator,
    '/api/admin/v1/keys',
    'expireTime',
    () => ({ name: 'a', accountId: account.accountId }),
  ],
  ['codes', ofOperator, '/api/admin/v1/codes', 'expireTime', () => ({ name: 'a', credits: 1, codes: 1 })],
  ['an announcement', ofOperator, '/api/admin/v1/announcement', 'endTime', () => ({ text: 'a' })],
] as const) {
  test(`422 ${what} that ends now or earlier; 200 a millisecond later, and without an end`, async () => {
    const send = (time?: number) =>
      ask('POST', path, { body: { ...body(), ...(time !== undefined && { [field]: time }) } });
    for (const time of [nowMs - 1, nowMs]) {
      const { status, json } = await send(time);
      assert.equal(status, 422);
      const errors = [{ path: field, message: 'must be a future time in Unix milliseconds' }];
      assert.deepEqual(json.data, { errors });
    }
    for (const time of [nowMs + 1, undefined]) assert.equal((await send(time)).status, 200, String(time));
  });
}

test('200 the statement of a month from its first millisecond on', async (t) => {
  t.after(() => (clockMs = nowMs));
  const statuses = async () => {
    const answers = [
      own('GET', '/api/v1/credits/statement', { query: { month: '2100-01' } }),
      own('GET', '/api/v1/credits/statement.csv', { query: { month: '2100-01' } }),
    ];
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  assert.deepEqual(await statuses(), [200, 200]);
  clockMs = nowMs - 1;
  assert.deepEqual(await statuses(), [422, 422]);
});
