import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { type Browser, newBrowser, newMember, newPerson } from '../../support/service/person.ts';
import { waitFor } from '../../support/wait-for.ts';

// Addresses of statements that a browser opens without the headers of the console.

let service: HttpService;
let month: string;
before(async () => {
  await awayFromMidnight();
  month = new Date().toISOString().slice(0, 7);
  service = await startHttpService();
});
after(() => service.close());

const link = (accountId: string, format = 'html', of = month) => `/console/a/${accountId}/statements/${of}.${format}`;
const clicked = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

test('200 every member opens the page and saves the CSV with their cookie alone, by a click or a bookmark', async () => {
  const { accountId, person } = await newMember(service, 'viewer', 70);
  for (const headers of [clicked, { ...clicked, 'sec-fetch-site': 'none' }, {}]) {
    const page = await person.askAs('GET', link(accountId), headers);
    assert.equal(page.status, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    assert.match(
      String(page.headers['content-security-policy']),
      /^default-src 'none'; style-src 'sha256-[^' ]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    assert.equal(page.headers['cross-origin-resource-policy'], 'same-origin');
    assert.equal(page.headers['cache-control'], 'no-store');
    assert.ok(page.bytes.toString().includes(accountId));
  }
  const csv = await person.askAs('GET', link(accountId, 'csv'), clicked);
  assert.equal(csv.headers['content-disposition'], `attachment; filename="statement-${month}.csv"`);
  assert.equal(csv.headers['cross-origin-resource-policy'], 'same-origin');
  assert.equal(csv.headers['x-content-type-options'], 'nosniff');
  assert.match(csv.bytes.toString(), /,opening credits\r\n/);
  const line = await waitFor('the line of the request', () =>
    service.log.find(({ path }) => path === link(accountId, 'csv')),
  );
  assert.deepEqual([line['userId'], line['accountId']], [person.userId, accountId]);
});

test('302 a stranger, a signed-out visitor and an unknown account get the page of the console, and no figure', async () => {
  const { accountId, person } = await newMember(service);
  const stranger = await newPerson(service);
  const other = await createAccount(service.database.db, { name: 'other', credits: 5 });
  const tried = [
    [newBrowser(service), accountId],
    [newBrowser(service, 'videogen=forged'), accountId],
    [stranger, accountId],
    [person, other],
    [person, 'none'],
  ] as const;
  for (const [browser, id] of tried) {
    for (const format of ['html', 'csv']) {
      const { status, headers, bytes } = await browser.askAs('GET', link(id, format), clicked);
      assert.equal(status, 302);
      assert.equal(headers['location'], `/console/a/${id}/credits?tab=statements`);
      assert.doesNotMatch(bytes.toString(), /Statement for|opening_balance/);
    }
  }
});

test('200 an operator who views the account opens its statements as its owner does, until the view ends', async () => {
  const { accountId } = await newMember(service);
  const operator = await newPerson(service, { isOperator: true });
  const statuses = async () => {
    const answers = ['html', 'csv'].map((format) => operator.askAs('GET', link(accountId, format), clicked));
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  assert.deepEqual(await statuses(), [302, 302]);
  const view = { body: { accountId, reason: 'Ticket 118' } };
  assert.equal((await operator.ask('POST', '/api/console/v1/view', view)).status, 200);
  assert.deepEqual(await statuses(), [200, 200]);
  assert.equal((await operator.ask('POST', '/api/console/v1/view/end')).status, 200);
  assert.deepEqual(await statuses(), [302, 302]);
});

test('403 pages of other sites cannot embed or link to a statement; 421 under a foreign host', async () => {
  const { accountId, person } = await newMember(service);
  for (const site of ['cross-site', 'same-site']) {
    const answer = await person.askAs('GET', link(accountId), { ...clicked, 'sec-fetch-site': site });
    assertRefused(answer, 403, /./);
    assert.equal(answer.json.error, 'cross_site_request');
  }
  const rebound = await person.askAs('GET', link(accountId), { ...clicked, host: 'evil.example' });
  assert.equal(rebound.status, 421);
});

test('429 the pages that a person opens count as their reads', async () => {
  const reads = createRateLimiter({ quota: 1, windowMs: 3_600_000 }, () => 0);
  const limited = await startHttpService({ database: service.database, reads });
  try {
    const { accountId, person } = await newMember(limited);
    const other = await newPerson(limited, { roles: { [accountId]: 'viewer' } });
    const statusOf = async (who: Browser) => (await who.askAs('GET', link(accountId), clicked)).status;
    assert.deepEqual([await statusOf(person), await statusOf(person), await statusOf(other)], [200, 429, 200]);
  } finally {
    await limited.close();
  }
});

test('422 a month that has not begun; other addresses are pages of the console', async () => {
  const { accountId, person } = await newMember(service);
  assert.equal((await person.askAs('GET', link(accountId, 'html', '2285-12'), clicked)).status, 422);
  const { headers } = await person.askAs('GET', link(accountId, 'pdf'), clicked);
  assert.match(String(headers['content-security-policy']), /script-src 'self'/);
});
