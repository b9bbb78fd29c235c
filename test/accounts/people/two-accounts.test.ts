import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { z } from 'zod';
import { documentedTaskRequestSchema } from '../../../src/tasks/accept/documented-task-request.ts';
import type { Operation } from '../../../src/api/core/endpoint-spec.ts';
import { endpoints } from '../../../src/api/endpoints.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { createSession } from '../../../src/accounts/sign-in/sessions.ts';
import { type Answer, createHttpClient } from '../../support/service/http-client.ts';
import { type HttpService, isRequired, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { goodPassword, newBrowser, newPerson, type Person } from '../../support/service/person.ts';
import { mark, origin, type Other, fillOther } from './account-with-people.ts';

// The owner of one account makes every request of the console with ids of another account. Endpoints and parameters are read from
// their declarations.

let service: HttpService;
let own: { readonly accountId: string; readonly person: Person };
let other: Other;
before(async () => {
  service = await startHttpService();
  const accountId = await createAccount(service.database.db, { name: 'own', credits: 10_000 });
  own = { accountId, person: await newPerson(service, { roles: { [accountId]: 'owner' } }) };
  other = await fillOther(service);
});
after(() => service.close());

/** Valid values of parameters that name nothing of the other account. */
const harmless: Readonly<Record<string, readonly unknown[]>> = {
  state: ['success'],
  outcome: ['failed'],
  model: [plainRequest.model],
  failCode: ['content_rejected'],
  kind: ['charge'],
  from: [Date.now() - 3_600_000],
  to: [Date.now() + 3_600_000],
  limit: [50],
  since: [0],
  overlapSeconds: [60],
  type: ['task.succeeded'],
  types: [['task.succeeded']],
  lowBalance: [500],
  name: ['mine'],
  scopes: [['tasks:read']],
  dialect: ['native'],
  mergeRepeats: [true],
  days: ['false'],
  expireTime: [Date.now() + 86_400_000],
  password: [goodPassword],
  currentPassword: [goodPassword],
  newPassword: [goodPassword],
  url: ['http://receiver.test/'],
  callBackUrl: ['http://receiver.test/'],
  status: ['2xx'],
  endpoint: ['jobs'],
  error: ['invalid_request'],
  attempt: [1],
  by: ['key'],
  email: ['person@example.com'],
  role: ['viewer'],
  models: [[plainRequest.model]],
  caps: [{ day: 100 }],
  favorite: [true],
  ratio: ['16:9'],
  removeTags: [['mine']],
  title: ['mine'],
  showsAccountName: [true],
  day: [100],
  month: [null],
  total: [1_000],
  code: ['ABCD-ABCD-ABCD-ABCD'],
  package: ['starter'],
  reason: ['a ticket'],
  response: [{ id: 'AAAA', rawId: 'AAAA', type: 'public-key', response: { clientDataJSON: 'e30' } }],
};

type Fields = { readonly names: readonly string[]; readonly required: readonly string[] };

function fieldsOf({ path, query, body, createsTask, shape }: Operation): Fields {
  const isOurs = createsTask === true && shape === undefined;
  const schema = isOurs ? documentedTaskRequestSchema(service.deps.catalogue()) : (query ?? body);
  const ofPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  if (schema === undefined) return { names: ofPath, required: ofPath };
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  // What the fields of other APIs mean is decided where those of ours are.
  const names = Object.keys(properties).filter(
    (name) => shape === undefined || name in other.values || name in harmless,
  );
  return { names: [...ofPath, ...names], required: [...ofPath, ...required] };
}

/** Each parameter with each of its values beside the required ones, and all parameters together. */
function* valuesFor({ names, required }: Fields): Generator<Record<string, unknown>> {
  const of = (name: string) => other.values[name] ?? harmless[name] ?? [];
  const first = (chosen: readonly string[]) => Object.fromEntries(chosen.map((name) => [name, of(name)[0]]));
  yield first(required);
  for (const name of names) for (const value of of(name)) yield { ...first(required), [name]: value };
  yield first(names);
}

const send = () => createHttpClient(service.url);

/** A request of the owner, with a new session, because earlier requests may have ended theirs. */
async function call(operation: Operation, values: Record<string, unknown>, accountId: string): Promise<Answer> {
  const { token } = await createSession(service.database.db, own.person.userId, { ...origin, userAgent: 'own' });
  const browser = newBrowser({ send: send() }, `videogen_${new URL(service.url).port}=${token}`);
  const { method, fileTypes } = operation;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
  if (method !== 'post') {
    const pairs = Object.entries(values).map(([name, value]): [string, string] => [name, String(value)]);
    return browser.ask(method === 'get' ? 'GET' : 'DELETE', `${path}?${new URLSearchParams(pairs).toString()}`, {
      accountId,
    });
  }
  const type = fileTypes?.[0];
  const headers = type === undefined ? {} : { 'content-type': type };
  return browser.ask('POST', path, { accountId, body: values, headers });
}

/** The statement for a digest of every row of an account and its people, without the times of their last use. */
async function digestStatement(): Promise<string> {
  const { db } = service.database;
  const columns = await db.run<{ table: string; column: string }>({
    name: 'test-columns',
    text: `
select table_name as table, column_name as column from information_schema.columns
where table_schema = 'public' and column_name in ('account_id', 'user_id', 'task_id')
  or table_schema = 'public' and table_name in ('accounts', 'users') and column_name = 'id'`,
  });
  const people = `(select user_id from memberships where account_id = $1)`;
  const owned: Readonly<Record<string, string>> = {
    account_id: '= $1',
    user_id: `in ${people}`,
    task_id: 'in (select id from tasks where account_id = $1)',
  };
  const parts = columns.map(({ table, column }) => {
    const which = column !== 'id' ? owned[column] : table === 'accounts' ? '= $1' : `in ${people}`;
    const row = `(to_jsonb(t) - 'last_used_at')::text`;
    return `select '${table}' || md5(coalesce(string_agg(${row}, ',' order by ${row}), '')) from ${table} t where ${column} ${which}`;
  });
  assert.ok(parts.length > 15);
  return `select string_agg(part, ',') as digest from (${parts.join(' union all ')}) parts (part)`;
}

let digest: Promise<string> | undefined;

async function everythingOfOther(): Promise<string> {
  const statement = { name: 'test-digest-of-other', text: await (digest ??= digestStatement()) };
  const [found] = await service.database.db.run<{ digest: string }>(statement, [other.accountId]);
  return found?.digest ?? '';
}

function assertNothingOfOther({ bytes }: Answer, what: string): void {
  const text = bytes.toString();
  const seen = [mark, ...other.ids].filter((one) => text.includes(one));
  assert.deepEqual(seen, [], what);
}

const ofPeople = endpoints.filter(({ scope }) => scope !== 'none' && scope !== 'operator');
const isOfAccount = ({ scope }: Operation) => scope !== 'session';

for (const operation of ofPeople) {
  const { operationId } = operation;
  test(`${operationId} shows and changes nothing of an account that the person is not in`, async () => {
    const fields = fieldsOf(operation);
    const unknown = fields.names.filter((name) => !(name in other.values) && !(name in harmless));
    assert.deepEqual(unknown, [], 'parameters that need values above');
    const untouched = await everythingOfOther();
    for (const values of valuesFor(fields)) {
      const what = `${operationId} ${JSON.stringify(values)}`;
      assertNothingOfOther(await call(operation, values, own.accountId), `${what} in the own account`);
      const swapped = await call(operation, values, other.accountId);
      assertNothingOfOther(swapped, `${what} in the other account`);
      if (isOfAccount(operation)) assert.match(swapped.bytes.toString(), /"account_not_found"/, what);
    }
    assert.equal(await everythingOfOther(), untouched);
  });
}

test('endpoints for operators do not exist for other people', async () => {
  const untouched = await everythingOfOther();
  for (const operation of endpoints.filter(({ scope }) => scope === 'operator')) {
    for (const accountId of [own.accountId, other.accountId]) {
      const answer = await call(operation, { ...other.values, accountId: other.accountId }, accountId);
      assert.equal(answer.json.error, 'unknown_endpoint', operation.operationId);
    }
  }
  assert.equal(await everythingOfOther(), untouched);
});

/** Reads that name nothing, and the one of another dialect. */
const nameless = [
  'countTasks',
  'getOverview',
  'getStatus',
  'getLimits',
  'listDailyCredits',
  'getStatement',
  'getStatementCsv',
  'getStatementHtml',
  'getUsage',
  'exportUsage',
  'listModels',
  'kieGetCredit',
  'openaiListModels',
  'openaiRetrieveModel',
  'openrouterListModels',
  'listPackages',
];

test('the same reads show the other account to its owner, so the tests above had something to find', async () => {
  const silent: string[] = [];
  for (const { operationId, path, method, query } of ofPeople) {
    if (method !== 'get') continue;
    const taskId = other.values['taskId']?.at(-1);
    const needed = ['taskId', 'urls', 'deliveryId'].filter((name) => isRequired(query, name));
    const pairs = needed.map((name): [string, string] => [
      name,
      String(name === 'urls' ? other.values[name]?.at(-1) : taskId),
    ]);
    const search = `?${new URLSearchParams(pairs).toString()}`;
    const found = path.replace('{id}', String(taskId)) + search;
    const { bytes, headers } = await other.owner.ask('GET', found, { accountId: other.accountId });
    const text = `${headers.location ?? ''} ${bytes.toString()}`;
    // The store has no file. Only the owner of the task gets this error.
    if (![mark, ...other.ids, 'media_missing'].some((one) => text.includes(one))) silent.push(operationId);
  }
  assert.deepEqual(silent, nameless);
});
