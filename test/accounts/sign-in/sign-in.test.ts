import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSetupLink, invitePersonAs } from '../../../src/accounts/people/change-users-as-operator.ts';
import { urlOfLink } from '../../../src/accounts/sign-in/one-time-links.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { goodPassword, newBrowser, newMember, newPerson, shell } from '../../support/service/person.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

test('the setup link of a first start makes an operator who owns the first account, once', async () => {
  const own = await startHttpService();
  try {
    const { accountId } = await own.newAccount(500);
    await own.newAccount(0);
    const outdated = await createSetupLink(own.database.db);
    const link = await createSetupLink(own.database.db);
    assert.ok(link && outdated);
    assert.match(urlOfLink(own.url, link), /\/console\/setup#[\w-]{43}$/);
    const browser = newBrowser(own);
    const show = (token: string) => browser.ask('POST', '/api/console/v1/links/show', { body: { token } });
    assert.equal((await browser.ask('GET', '/api/console/v1/options')).json.data['needsSetUp'], true);
    assert.equal((await show(outdated.token)).json.error, 'link_not_found');
    assert.deepEqual(Object.entries((await show(link.token)).json.data).slice(0, 5), [
      ['purpose', 'setup'],
      ['email', null],
      ['accountName', null],
      ['role', null],
      ['userExists', false],
    ]);
    const accept = (email?: string) =>
      browser.ask('POST', '/api/console/v1/links/accept', {
        body: { token: link.token, email, password: goodPassword },
      });
    assertRefused(await accept(), 422, /email: is required/, { errors: [{ path: 'email', message: 'is required' }] });
    const { status, json } = await accept('Ada@Example.com');
    assert.equal(status, 200, json.msg);
    const { user, accounts } = json.data as { user: Record<string, unknown>; accounts: unknown };
    assert.deepEqual([user['email'], user['isOperator']], ['ada@example.com', true]);
    assert.deepEqual(accounts, [{ accountId, name: 'test', role: 'owner', suspension: null }]);
    assert.deepEqual((await browser.ask('GET', '/api/console/v1/me')).json.data, json.data);
    assert.equal((await accept('eve@example.com')).json.error, 'link_not_found');
    assert.equal((await browser.ask('GET', '/api/console/v1/options')).json.data['needsSetUp'], false);
    assert.equal(await createSetupLink(own.database.db), undefined);
    assert.equal((await browser.ask('GET', '/api/admin/v1/accounts')).status, 200, 'as an operator');
    assert.equal((await browser.ask('GET', '/api/v1/credits', { accountId })).json.data['balance'], 500);
    await own.database.db.run({ name: 'test-disable-all', text: 'update users set disabled_at = now()' });
    const again = await createSetupLink(own.database.db);
    assert.ok(again, 'disabled operators do not count');
    assert.equal((await show(again.token)).json.data['purpose'], 'setup');
  } finally {
    await own.close();
  }
});

test('an invitation makes a member with the role that it names', async () => {
  const { db } = service.database;
  const { accountId } = await service.newAccount(1000);
  const invited = await invitePersonAs(db, shell, {
    email: 'bob@example.com',
    isOperator: false,
    accountId,
    role: 'viewer',
  });
  assert.ok(invited);
  const bob = newBrowser(service);
  const accept = (token: string, password: string) =>
    bob.ask('POST', '/api/console/v1/links/accept', { body: { token, password } });
  assert.equal((await accept(invited.token, goodPassword)).status, 200);
  assert.equal((await bob.ask('GET', '/api/v1/credits', { accountId })).status, 200);
  assertRefused(await bob.ask('POST', '/api/v1/jobs/createTask', { accountId, body: plainRequest }), 403, /your role/);
});

test('an invitation to an existing user requires their password', async () => {
  const { db } = service.database;
  const { accountId } = await service.newAccount(0);
  const { email } = await newPerson(service);
  const invited = await invitePersonAs(db, shell, { email, isOperator: true, accountId, role: 'owner' });
  assert.ok(invited);
  const browser = newBrowser(service);
  const shown = await browser.ask('POST', '/api/console/v1/links/show', { body: { token: invited.token } });
  assert.equal(shown.json.data['userExists'], true);
  const accept = (password: string) =>
    browser.ask('POST', '/api/console/v1/links/accept', { body: { token: invited.token, password } });
  assert.equal((await accept('another password 1')).json.error, 'sign_in_failed');
  assert.equal(browser.cookie(), undefined);
  assert.equal((await accept(goodPassword)).status, 200);
  assert.equal((await browser.ask('GET', '/api/console/v1/me')).status, 200);
});

test('a task that a person creates in the console is charged to the account that their page names', async () => {
  const { accountId, person } = await newMember(service, 'member', 1000);
  const { status, json } = await person.ask('POST', '/api/v1/jobs/createTask', { accountId, body: plainRequest });
  assert.equal(status, 200, json.msg);
  const taskId = String(json.data['taskId']);
  assert.equal((await findTask(service.database.db, taskId))?.accountId, accountId);
  assert.equal((await person.ask('GET', '/api/v1/credits', { accountId })).json.data['balance'], 1000 - 165);
  const record = await person.ask('GET', `/api/v1/jobs/recordInfo?taskId=${taskId}`, { accountId });
  assert.equal(record.json.data['taskId'], taskId);
  const other = await newMember(service);
  const foreign = await other.person.ask('GET', `/api/v1/jobs/recordInfo?taskId=${taskId}`, other);
  assert.equal(foreign.json.error, 'task_not_found');
});

test('the audit log names the operator of the console', async () => {
  const { accountId } = await service.newAccount(0);
  const operator = await newPerson(service, { isOperator: true });
  const body = { accountId, credits: 7, reason: 'bought' };
  const headers = { 'idempotency-key': `grant-${accountId}` };
  const { status, json } = await operator.ask('POST', '/api/admin/v1/credits/grant', { body, headers });
  assert.equal(status, 200, json.msg);
  const audit = await operator.ask('GET', `/api/admin/v1/audit?accountId=${accountId}`);
  const [latest] = audit.json.data['actions'] as Record<string, Record<string, unknown>>[];
  const { kind, userId, name, operatorId } = latest?.['actor'] ?? {};
  assert.deepEqual([kind, userId, name, operatorId], ['user', operator.userId, operator.email, null]);
});
