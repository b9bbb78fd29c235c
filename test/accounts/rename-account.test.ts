import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { closeAccountAs } from '../../src/tasks/end/close-account-rows.ts';
import { findAccount } from '../../src/accounts/accounts.ts';
import { listOperatorActions } from '../../src/accounts/operators/audit-log.ts';
import { renameAccountAs } from '../../src/accounts/rename-account.ts';
import { createAccount } from '../../src/credits/open-account.ts';
import { type HttpService, startHttpService } from '../support/service/http-service.ts';
import { newMember, newPerson, shell } from '../support/service/person.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const path = '/api/console/v1/account/rename';

test('200 an owner renames the account; a security event has both names, once', async () => {
  const { accountId, person } = await newMember(service);
  for (let time = 0; time < 2; time += 1) {
    const { status, json } = await person.ask('POST', path, { accountId, body: { name: 'Harbour Films' } });
    assert.deepEqual([status, json.data], [200, { accountId, name: 'Harbour Films' }]);
  }
  assert.equal((await findAccount(service.database.db, accountId))?.name, 'Harbour Films');
  const { json } = await person.ask('GET', '/api/console/v1/events', { accountId });
  const events = json.data['events'] as readonly { kind: string; email: string; details?: unknown }[]; // as documented
  const renamed = events.filter(({ kind }) => kind === 'account_renamed');
  assert.deepEqual(
    renamed.map(({ email }) => email),
    [person.email],
  );
  const [row] = await service.database.db.run(
    {
      name: 'test-details',
      text: `select details from security_events where kind = 'account_renamed' and account_id = $1`,
    },
    [accountId],
  );
  assert.deepEqual(row, { details: { from: 'test', to: 'Harbour Films' } });
});

test('403 a member or viewer cannot rename the account', async () => {
  for (const role of ['member', 'viewer'] as const) {
    const { accountId, person } = await newMember(service, role);
    assert.equal((await person.ask('POST', path, { accountId, body: { name: 'mine' } })).status, 403);
    assert.equal((await findAccount(service.database.db, accountId))?.name, 'test');
  }
});

test('404 an owner of another account cannot rename it', async () => {
  const { accountId } = await newMember(service);
  const stranger = await newPerson(service);
  assert.equal((await stranger.ask('POST', path, { accountId, body: { name: 'mine' } })).status, 404);
  assert.equal((await findAccount(service.database.db, accountId))?.name, 'test');
});

test('422 a name is one line of 1 to 200 characters', async () => {
  const { accountId, person } = await newMember(service);
  for (const name of ['', '   ', 'a'.repeat(201), 'two\nlines', 'a\u202Eb']) {
    const { status, json } = await person.ask('POST', path, { accountId, body: { name } });
    assert.deepEqual([status, json.error], [422, 'invalid_request'], name);
  }
});

test('a closed account keeps its name', async () => {
  const { accountId, person } = await newMember(service);
  await closeAccountAs(service.database.db, shell, { accountId, reason: 'test' });
  const { status } = await person.ask('POST', path, { accountId, body: { name: 'later' } });
  assert.notEqual(status, 200);
  assert.equal((await findAccount(service.database.db, accountId))?.name, 'test');
});

test('an operator renames an account, which is in the audit log once, and no closed or unknown one', async () => {
  const { db } = service.database;
  const accountId = await createAccount(db, { name: 'before', credits: 7 });
  const other = await createAccount(db, { name: 'other', credits: 0 });
  const rename = (name: string, id = accountId) => renameAccountAs(db, shell, { accountId: id, name });
  const earlier = await findAccount(db, accountId);
  assert.deepEqual(await rename('after'), { ...earlier, name: 'after' });
  assert.deepEqual(await rename('after'), { ...earlier, name: 'after' });
  assert.deepEqual(await findAccount(db, accountId), { ...earlier, name: 'after' });
  assert.equal((await findAccount(db, other))?.name, 'other');
  assert.equal(await rename('x', randomUUID()), undefined);
  const actions = await listOperatorActions(db, { accountId, limit: 9 });
  assert.deepEqual(
    actions.map(({ action, actor, details }) => [action, actor, details]),
    [['accounts.rename', shell, { from: { name: 'before' }, to: { name: 'after' } }]],
  );
  await closeAccountAs(db, shell, { accountId, reason: 'test' });
  await assert.rejects(rename('later'), { name: 'AccountClosedError' });
  assert.equal((await findAccount(db, accountId))?.name, 'after');
});
