import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { Operation } from '../../../src/api/core/endpoint-spec.ts';
import { endpoints } from '../../../src/api/endpoints.ts';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { setMembership } from '../../../src/accounts/people/memberships.ts';
import { testTaskId } from '../../../src/tasks/callbacks/send-test-callback.ts';
import type { Answer } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { newPerson, type Person } from '../../support/service/person.ts';
import { acceptTestTask, madeUpMeasures, taskParam } from '../../support/tasks/tasks.ts';
import { completeTask } from '../../../src/tasks/end/end-task-statements.ts';

let service: HttpService;
let accountId: string;
let owner: Person;
let operator: Person;
/** Valid bodies of the endpoints that change nothing. */
let bodies: Readonly<Record<string, object>>;
before(async () => {
  service = await startHttpService();
  accountId = await createAccount(service.database.db, { name: 'Northlight', credits: 10_000 });
  owner = await newPerson(service, { roles: { [accountId]: 'owner' } });
  operator = await newPerson(service, { isOperator: true });
  const taskId = await acceptTestTask(service.database.db, accountId, taskParam('a lighthouse'));
  const [videoKey, posterKey] = [`results/${taskId}/video.mp4`, `results/${taskId}/poster.jpg`];
  await completeTask(service.database.db, taskId, { ...madeUpMeasures, videoKey, posterKey });
  bodies = {
    priceTask: plainRequest,
    archiveVideos: { taskIds: [taskId] },
    kieDownloadUrl: { url: `${service.url}/media/${taskId}/video.mp4` },
  };
});
after(() => service.close());

const view = (person: Person, account = accountId) =>
  person.ask('POST', '/api/console/v1/view', { body: { accountId: account, reason: 'Ticket 118' } });
const balance = (person: Person, account = accountId) => person.ask('GET', '/api/v1/credits', { accountId: account });
const alter = (text: string, values: readonly unknown[]) =>
  service.database.db.run({ name: `test-${text.slice(0, 40)}`, text }, values);

/** Every row that names the account, and its own. */
async function everythingOfAccount(): Promise<string> {
  const { db } = service.database;
  const tables = await db.run<{ table: string }>({
    name: 'test-tables-of-accounts',
    text: `
select table_name as table from information_schema.columns where table_schema = 'public' and column_name = 'account_id'`,
  });
  assert.ok(tables.length > 12);
  const row = `(to_jsonb(t) - 'last_used_at')::text`;
  const digest = (table: string, column: string) =>
    `select '${table}' || md5(coalesce(string_agg(${row}, ',' order by ${row}), '')) from ${table} t where ${column} = $1`;
  const parts = [digest('accounts', 'id'), ...tables.map(({ table }) => digest(table, 'account_id'))];
  const text = `select string_agg(part, ',') as digest from (${parts.join(' union all ')}) parts (part)`;
  const [found] = await db.run<{ digest: string }>({ name: 'test-digest-of-account', text }, [accountId]);
  return found?.digest ?? '';
}

const pathOf = ({ path }: Operation) => path.replaceAll(/\{\w+\}/g, testTaskId);
const ofPeople = endpoints.filter(({ scope }) => scope !== 'none' && scope !== 'operator');

const noReads = ofPeople.filter(({ method }) => method !== 'get');

for (const operation of noReads.filter(({ changesNothing }) => changesNothing !== true)) {
  const { operationId, method, fileTypes } = operation;
  test(`403 ${operationId} is refused while an operator views the account, and changes nothing`, async () => {
    assert.equal((await view(operator)).status, 200);
    const untouched = await everythingOfAccount();
    const type = fileTypes?.[0];
    const { status, bytes } = await operator.ask(method === 'post' ? 'POST' : 'DELETE', pathOf(operation), {
      accountId,
      headers: { 'idempotency-key': randomUUID(), ...(type !== undefined && { 'content-type': type }) },
    });
    assert.equal(status, 403, bytes.toString());
    assert.match(bytes.toString(), /"read_only_view"/);
    assert.equal(await everythingOfAccount(), untouched);
  });
}

test('exactly three endpoints that are no GET declare that they change nothing', () => {
  const declared = endpoints.filter(({ changesNothing }) => changesNothing === true);
  assert.deepEqual(declared.map(({ operationId }) => operationId).toSorted(), [
    'archiveVideos',
    'kieDownloadUrl',
    'priceTask',
  ]);
});

for (const operation of noReads.filter(({ changesNothing }) => changesNothing === true)) {
  const { operationId } = operation;
  test(`${operationId} responds to an operator who views the account as to its owner, and changes nothing`, async () => {
    await view(operator);
    const untouched = await everythingOfAccount();
    const ask = async (person: Person) => {
      const { status, json } = await person.ask('POST', pathOf(operation), { accountId, body: bodies[operationId] });
      // Signed links and their times differ.
      const data = Object.entries(json.data).filter(([name]) => name !== 'url' && name !== 'expireTime');
      return { status, error: json.error, data };
    };
    const theirs = await ask(operator);
    assert.deepEqual(theirs, await ask(owner));
    // A person speaks no dialect of another API.
    const [status, error] = operationId === 'kieDownloadUrl' ? [403, 'dialect_required'] : [200, undefined];
    assert.deepEqual([theirs.status, theirs.error], [status, error]);
    assert.equal(await everythingOfAccount(), untouched);
  });
}

test('an operator who views an account reads exactly what its owner reads', async () => {
  await view(operator);
  const reads = ofPeople.filter(
    ({ method, scope, path }) => method === 'get' && scope !== 'session' && !path.includes('{'),
  );
  // Times and signed links of two reads differ.
  const plain = ({ status, bytes }: Answer) => [status, bytes.toString().replaceAll(/\d{13}|\?[^"]*/g, '')];
  let successes = 0;
  for (const { operationId, path } of reads) {
    const [theirs, owners] = [
      await operator.ask('GET', path, { accountId }),
      await owner.ask('GET', path, { accountId }),
    ];
    assert.deepEqual(plain(theirs), plain(owners), operationId);
    successes += theirs.status === 200 ? 1 : 0;
  }
  assert.ok(successes > 10, String(successes));
});

test('a view is recorded in the audit log, names its account to the console, and ends on request', async () => {
  const person = await newPerson(service, { isOperator: true });
  assert.equal((await balance(person)).json.error, 'account_not_found');
  const begun = await view(person);
  assert.equal((begun.json.data['view'] as { name: string }).name, 'Northlight');
  const [entry] = await listOperatorActions(service.database.db, { limit: 1, accountId });
  assert.deepEqual(
    [entry?.action, entry?.actor.name, entry?.details],
    ['accounts.view', person.email, { reason: 'Ticket 118' }],
  );
  assert.equal((await balance(person)).status, 200);
  const ended = await person.ask('POST', '/api/console/v1/view/end');
  assert.equal(ended.json.data['view'], null);
  assert.equal((await balance(person)).json.error, 'account_not_found');
});

test('a view ends after an hour, with the session, and with the right of the operator; another session has none', async () => {
  const person = await newPerson(service, { isOperator: true });
  const other = await newPerson(service, { isOperator: true });
  await view(person);
  assert.equal((await balance(other)).json.error, 'account_not_found');
  const left = `select viewed_until - now() between interval '59 minutes' and interval '1 hour' as fits from sessions where id = $1`;
  assert.deepEqual(await alter(left, [person.sessionId]), [{ fits: true }]);
  await alter('update sessions set viewed_until = now() where id = $1', [person.sessionId]);
  assert.equal((await balance(person)).json.error, 'account_not_found');
  await view(person);
  await alter('update users set is_operator = false where id = $1', [person.userId]);
  assert.equal((await balance(person)).json.error, 'account_not_found');
});

test('a view opens one account, and no account to people who are not operators', async () => {
  const another = await createAccount(service.database.db, { name: 'Harbor', credits: 7 });
  await view(operator);
  assert.equal((await balance(operator, another)).json.error, 'account_not_found');
  await view(operator, another);
  assert.equal((await balance(operator)).json.error, 'account_not_found');
  assert.equal((await view(owner, another)).json.error, 'unknown_endpoint');
  assert.equal((await balance(owner, another)).json.error, 'account_not_found');
  assert.equal((await view(operator, randomUUID())).json.error, 'account_not_found');
});

test('an operator who is a member of the account keeps the rights of that role', async () => {
  const member = await newPerson(service, { isOperator: true });
  await view(member);
  await setMembership(service.database.db, accountId, member.userId, 'viewer');
  const created = await member.ask('POST', '/api/v1/keys', { accountId, body: { name: 'a' } });
  assert.equal(created.json.error, 'scope_missing');
});
