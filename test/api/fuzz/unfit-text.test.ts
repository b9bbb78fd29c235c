import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { createOperator } from '../../../src/accounts/operators/operator-keys.ts';
import { type Answer, isObject } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { fromConsole, newMember, type Person } from '../../support/service/person.ts';
import { runsWholeMatrix } from '../../support/tier.ts';

// PostgreSQL takes neither NUL nor half a character, so no string of a request may reach it with them.

type Parameter = { readonly in: string; readonly name: string };
type Described = {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: unknown;
  readonly tags: string[];
};
type Operation = Described & { readonly method: string; readonly path: string };

const someId = '01a1fe3b-2c75-7579-b94f-4d7024d5882f';
const document = JSON.parse(readFileSync('openapi.json', 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
};
const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({
    ...described,
    method: method.toUpperCase(),
    path: path.replaceAll(/\{\w+\}/g, someId),
  })),
);

let service: HttpService;
let person: Person;
let personsAccountId: string;
let keys: Readonly<Record<'native' | 'kie' | 'operator', string>>;
before(async () => {
  service = await startHttpService();
  const { db } = service.database;
  const { accountId } = await service.newAccount(1_000);
  const keyOf = async (dialect: 'native' | 'kie') => {
    const created = await createKeyUnchecked(db, { accountId, name: 'a', scopes, dialect });
    assert.ok(created);
    return created.key;
  };
  const { key: operator } = await createOperator(db, { name: 'ada' });
  const member = await newMember(service);
  [person, personsAccountId] = [member.person, member.accountId];
  keys = { native: await keyOf('native'), kie: await keyOf('kie'), operator };
});
after(() => service.close());

function ask({ method, path, tags }: Operation, query: string, body?: string): Promise<Answer> {
  if (tags.includes('console')) {
    const headers = { ...fromConsole, cookie: person.cookie() ?? '', 'videogen-account': personsAccountId };
    return service.send(method, path + query, { headers, ...(body !== undefined && { body }) });
  }
  const key = keys[tags.includes('operators') ? 'operator' : tags.includes('kie') ? 'kie' : 'native'];
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'k' };
  return service.send(method, path + query, { headers, ...(body !== undefined && { body }) });
}

const queried = operations.flatMap((operation) =>
  (operation.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => ({ operation, name })),
);

/** Every form in `long`, and for the first place; else one form for each place, by turns. */
function formsFor<Form>(place: number, forms: readonly Form[]): readonly Form[] {
  return runsWholeMatrix || place === 0 ? forms : forms.filter((_, index) => index === place % forms.length);
}

for (const [place, { operation, name }] of queried.entries()) {
  const others = queried
    .filter((one) => one.operation === operation && one.name !== name && one.name.endsWith('Id'))
    .map((one) => `&${one.name}=${someId}`)
    .join('');
  test(`422 a NUL in the query parameter ${name} of ${operation.method} ${operation.path}`, async () => {
    for (const value of formsFor(place, ['%00', 'a%00', `${someId}%00`])) {
      const answer = await ask(operation, `?${name}=${value}${others}`);
      assert.equal(answer.status, 422, `${value}: ${String(messageOf(answer))}`);
      assert.equal(messageOf(answer), `${name}: must not contain NUL characters or unpaired surrogates`);
    }
  });
  test(`half a character in ${name} of ${operation.method} ${operation.path} finds nothing or is refused`, async () => {
    for (const value of formsFor(place, ['%ED%A0%80', '%ED%BF%BF', '%FF', '%F0%9F%8E', '%uD800', '%'])) {
      const { status } = await ask(operation, `?${name}=${value}${others}`);
      assert.ok([200, 404, 422].includes(status), `${value}: ${status}`);
    }
  });
}

test('422 a NUL in the name of a query parameter', async () => {
  const [first] = queried;
  assert.ok(first);
  assert.equal((await ask(first.operation, '?%00=1')).status, 422);
});

/** Those with a body of JSON: others, such as an image, hold no text, and events of payment providers are refused by their signature. */
const posted = operations.filter(
  (operation) => jsonOf(operation) !== undefined && !operation.path.startsWith('/hooks/'),
);

const unfitTexts = ['\\u0000', 'a\\u0000b', '\\ud800', '\\udfff\\ud83c'];

for (const [nth, operation] of posted.entries()) {
  const { method, path } = operation;
  test(`422 NUL and half characters anywhere in the body of ${method} ${path}`, async () => {
    const bodies: readonly (readonly [at: string, bodyOf: (unfit: string) => string])[] = [
      ...namesIn(operation).map((name) => [name, (unfit: string) => `{"${name}":"${unfit}"}`] as const),
      ['a[1].b', (unfit) => `{"a":[{},{"b":"${unfit}"}]}`],
      ['a[1]', (unfit) => `{"a":[0,"${unfit}"]}`],
    ];
    for (const [index, [at, bodyOf]] of bodies.entries()) {
      for (const unfit of formsFor(nth + index, unfitTexts)) {
        const answer = await ask(operation, '', bodyOf(unfit));
        assert.equal(answer.status, 422, bodyOf(unfit));
        assert.equal(messageOf(answer), `${at}: must not contain NUL characters or unpaired surrogates`);
      }
    }
    for (const unfit of formsFor(nth, unfitTexts))
      assert.equal((await ask(operation, '', `{"${unfit}":1}`)).status, 422);
  });
}

test('the parameters and bodies were found, those of operators among them', () => {
  assert.ok(queried.length > 30, String(queried.length));
  assert.ok(posted.length > 15, String(posted.length));
  assert.ok(queried.some(({ operation }) => operation.path.startsWith('/api/admin/')));
  const empty = posted.filter((operation) => namesIn(operation).length === 0);
  assert.deepEqual(
    empty.map(({ path }) => path),
    ['/api/admin/v1/announcement/remove'],
    'the others have fields',
  );
});

/** The message of an error, which other APIs' requests get in their own form. */
function messageOf({ bytes }: Answer): unknown {
  const body: unknown = JSON.parse(bytes.toString());
  if (!isObject(body)) return undefined;
  return isObject(body['error']) ? body['error']['message'] : body['msg'];
}

/** The fields at the top of the body, as the document has them. */
function namesIn(operation: Operation): readonly string[] {
  const json = jsonOf(operation);
  return isObject(json) ? propertiesOf(json['schema']) : [];
}

function jsonOf({ requestBody }: Operation): unknown {
  const content = isObject(requestBody) ? requestBody['content'] : undefined;
  return isObject(content) ? content['application/json'] : undefined;
}

function propertiesOf(schema: unknown): readonly string[] {
  if (!isObject(schema)) return [];
  if (typeof schema['$ref'] === 'string') {
    const steps = schema['$ref'].replace('#/', '').split('/');
    return propertiesOf(steps.reduce<unknown>((at, step) => (isObject(at) ? at[step] : undefined), document));
  }
  const { properties, allOf, anyOf, oneOf } = schema;
  const parts = [allOf, anyOf, oneOf].flatMap((list): readonly unknown[] => (Array.isArray(list) ? list : []));
  return [...(isObject(properties) ? Object.keys(properties) : []), ...parts.flatMap(propertiesOf)];
}
