import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { builtInCatalogue } from '../../src/catalogue/file/read-catalogue-file.ts';
import { defaultModels } from '../../src/catalogue/models/model-type-and-name-lookup.ts';
import { createApiRouter } from '../../src/api/app.ts';
import { openApiDocument } from '../../src/api/openapi.ts';
import { endpoints } from '../../src/api/endpoints.ts';
import { filesUnder } from '../support/imports.ts';
import { catalogueOf, type HttpService, plainRequest, startHttpService } from '../support/service/http-service.ts';

// Tests run in the root of the project, as npm and the lint's configuration want it.
const committed: unknown = JSON.parse(readFileSync('openapi.json', 'utf8'));

let service: HttpService;
let progress = 0;
before(async () => {
  service = await startHttpService({ progressOf: () => Promise.resolve(progress) });
});
after(() => service.close());

test('openapi.json is what the schemas of the routes say today; "npm run openapi" writes it', () => {
  assert.deepEqual(JSON.parse(JSON.stringify(openApiDocument(builtInCatalogue()))), committed);
});

test('whatever the document lets be null may be null: no list of values leaves it out', () => {
  const wrong: string[] = [];
  let nullable = 0;
  const walk = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) return;
    const { type, enum: values } = value as { type?: unknown; enum?: unknown };
    if (Array.isArray(type) && type.includes('null')) {
      nullable += 1;
      if ('const' in value || (Array.isArray(values) && !values.includes(null))) wrong.push(path);
    }
    for (const [name, inner] of Object.entries(value)) walk(inner, `${path}/${name}`);
  };
  walk(JSON.parse(JSON.stringify(openApiDocument(builtInCatalogue()))), '');
  assert.ok(nullable > 20, String(nullable));
  assert.deepEqual(wrong, []);
});

test('a schema with a name is never null itself, so that each use of the name says whether it may be null', () => {
  const { components } = JSON.parse(JSON.stringify(openApiDocument(builtInCatalogue()))) as {
    components: { schemas: Record<string, { type?: unknown }> };
  };
  const names = Object.entries(components.schemas);
  assert.ok(names.length > 20);
  const nullable = names.filter(([, { type }]) => Array.isArray(type) && type.includes('null'));
  assert.deepEqual(nullable, []);
  const referred = names.filter(([, schema]) => /"allOf":\[\{"\$ref"/.test(JSON.stringify(schema)));
  assert.deepEqual(referred, []);
});

test('every endpoint under /api/ is documented, and every documented one exists', () => {
  const served = createApiRouter(service.deps).router.stack.flatMap(({ path, methods }) =>
    methods
      .filter((method) => method !== 'HEAD')
      .map((method) => `${method} ${String(path).replaceAll(/:(\w+)/g, '{$1}')}`),
  );
  const documented = endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  assert.deepEqual(
    served.filter((endpoint) => endpoint.includes(' /api/')).toSorted(),
    documented.filter((endpoint) => endpoint.includes(' /api/')).toSorted(),
  );
  assert.deepEqual(
    documented.filter((endpoint) => !served.includes(endpoint)),
    [],
  );
});

test('every endpoint that a file declares is served', () => {
  const declared = filesUnder('src')
    .map((file) => readFileSync(file, 'utf8'))
    .filter((text) => text.includes('defineEndpoint({'))
    .flatMap((text) => [...text.matchAll(/^ +operationId: '(\w+)',$/gm)])
    .map(([, operationId]) => operationId);
  const served = new Set<string | undefined>(endpoints.map(({ operationId }) => operationId));
  assert.deepEqual(
    declared.filter((operationId) => !served.has(operationId)),
    [],
  );
  assert.ok(declared.length > 100, 'the declarations were found');
});

test('every operation documents its success, our own fault and, when it takes a key, its absence', () => {
  const { paths } = openApiDocument(service.deps.catalogue());
  for (const { operationId, method, path, scope, status: success = 200 } of endpoints) {
    const item = paths?.[path];
    const statuses = Object.keys(item?.[method]?.responses ?? {});
    for (const status of [String(success), '400', '500', ...(scope === 'none' ? [] : ['401', '503'])]) {
      assert.ok(statuses.includes(status), `${operationId} ${status}`);
    }
  }
});

test('a refusal is written once, under the names of its failures, and every operation refers to it', () => {
  const { paths = {}, components } = openApiDocument(service.deps.catalogue());
  const referred = endpoints.flatMap(({ operationId, method, path, status: success = 200 }) =>
    Object.entries<{ $ref?: string }>(paths[path]?.[method]?.responses ?? {}).flatMap(([status, { $ref }]) => {
      if (status === String(success) || Number(status) < 400) return [];
      assert.ok($ref, `${operationId} ${status}`);
      return [$ref.replace('#/components/responses/', '')];
    }),
  );
  assert.deepEqual([...new Set(referred)].toSorted(), Object.keys(components?.responses ?? {}).toSorted());
});

test('200 /openapi.json has the models of this installation, and needs no key', async () => {
  const [model] = defaultModels;
  assert.ok(model);
  const catalogue = catalogueOf([{ ...model, model: 'house-model' }]);
  const own = await startHttpService({ catalogue: () => catalogue, database: service.database });
  try {
    const answer = await own.send('GET', '/openapi.json');
    assert.equal(answer.status, 200);
    assert.match(answer.bytes.toString(), /^\{"openapi":"3\.1\.0".*"enum":\["house-model"\]/s);
    const { 'cache-control': cache, 'access-control-allow-origin': origin } = answer.headers;
    assert.deepEqual([cache, origin], ['no-cache', '*'], 'pages of other services may show it');
  } finally {
    await own.close();
  }
});

test('an answer of another shape than is declared fails the test that meets it', async () => {
  const { key } = await service.newAccount(1000);
  const taskId = String((await service.create(key, plainRequest)).json.data['taskId']);
  progress = NaN;
  const text = `update tasks set state = 'generating' where id = $1`;
  await service.database.db.run({ name: 'test-generating', text }, [taskId]);
  await assert.rejects(service.recordInfo(key, taskId), /recordInfo answered 200 unlike its document/);
  progress = 1;
  assert.equal((await service.recordInfo(key, taskId)).status, 200);
});
