import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findMeantApi } from '../../../src/api/dialects/shapes.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

// Every base URL that a client may have by mistake, joined with the path of an operation, as its SDK does.

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const bases = [
  '',
  '/v1',
  '/v1/v1',
  '/api',
  '/api/v1',
  '/api/v1/v1',
  '/api/v1/api/v1',
  '/v3',
  '/api/v3',
  '/api/v3/api/v3',
];
const ark = '/contents/generations/tasks';

/** The form of the error, and the base URL that it names; undefined where the base URL is right. */
const cases: Readonly<Record<string, (base: string) => readonly [form: string, path: string] | undefined>> = {
  '/videos': (base) => {
    if (base === '/v1' || base === '/api/v1') return undefined;
    return base.startsWith('/api') ? ['openrouter', '/api/v1'] : ['openai', '/v1'];
  },
  [ark]: (base) => (base === '/api/v3' ? undefined : ['ark', '/api/v3']),
};

for (const [operation, meant] of Object.entries(cases)) {
  for (const base of bases) {
    const expected = meant(base);
    if (expected === undefined) continue;
    const [form, path] = expected;
    test(`404 POST ${base}${operation} names the base URL ${path} in the form of ${form}`, async () => {
      const { status, bytes } = await service.send('POST', `${base}${operation}`, { body: '{}' });
      const { error } = JSON.parse(bytes.toString()) as { readonly error: Readonly<Record<string, unknown>> };
      assert.equal(status, 404);
      assert.match(
        String(error['message']),
        new RegExp(`base URL of this client to http://media\\.test${path}(?:;|$)`),
      );
      const code = form === 'openrouter' ? error['metadata'] : error['code'];
      assert.deepEqual(code, form === 'openrouter' ? { error_code: 'unknown_endpoint' } : 'unknown_endpoint');
    });
  }
}

for (const path of ['/jobs/createTask', '/v1/jobs/createTask', '/api/v1/api/v1/jobs/createTask']) {
  test(`404 POST ${path} names the base URL of our own API`, async () => {
    const { status, bytes } = await service.send('POST', path, { body: '{}' });
    assert.equal(status, 404);
    assert.match(bytes.toString(), /set the base URL of this client to http:\/\/media\.test;/);
  });
}

for (const path of ['/sse', '/mcp/sse', '/v1/mcp', '/api/v1/mcp', '/mcp/mcp']) {
  test(`404 POST ${path} names the URL for MCP`, async () => {
    const { bytes } = await service.send('POST', path, { body: '{}' });
    assert.match(bytes.toString(), /the URL for MCP is http:\/\/media\.test\/mcp/);
  });
}

test('our own paths keep our own errors', async () => {
  assert.equal((await service.send('GET', '/api/v1/models')).json.error, 'unauthorized');
  assert.equal((await service.send('GET', '/api/v1/x')).json.error, 'unknown_endpoint');
});

for (const [path, agent, base] of [
  ['/v1/videos', 'ai-sdk/openrouter/2.10.0', '/api/v1'],
  ['/v1/videos', 'speakeasy-sdk/typescript 1.3.19 2.914.0 1.0.0 @openrouter/sdk', '/api/v1'],
  ['/api/v1/videos', 'OpenAI/Python 3.57.0', '/v1'],
  ['/v1/videos', 'OpenRouter/1.0', '/api/v1'],
  ['/api/v1/videos', 'OpenAI/JS 6.49.0', '/v1'],
  ['/api/v1/videos', 'AsyncOpenAI/Python 3.57.0', '/v1'],
] as const) {
  test(`404 a create of ${agent} at ${path} is refused before the charge, with the base URL that it needs`, async () => {
    const { key } = await service.newAccount(1_000);
    const body = JSON.stringify({ model: 'videogen-2.0', prompt: 'A lighthouse' });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'user-agent': agent };
    const { status, bytes } = await service.send('POST', path, { headers, body });
    assert.equal(status, 404);
    assert.match(bytes.toString(), new RegExp(`set its base URL to http://media\\.test${base}; nothing was charged`));
    assert.match(bytes.toString(), /base_url_mismatch/);
    const credits = await service.send('GET', '/api/v1/credits', { headers: { authorization: `Bearer ${key}` } });
    assert.equal((credits.json.data as { readonly balance: number }).balance, 1_000);
  });
}

for (const [path, agent, status] of [
  ['/v1/videos', 'AsyncOpenAI/Python 3.57.0', 200],
  ['/v1/videos', 'my-openrouters/1.0', 200],
  ['/api/v1/videos', 'ai-sdk/openrouter/2.10.0', 202],
  ['/api/v1/videos', 'my OpenAI/1.0', 202],
] as const) {
  test(`${status} a create of ${agent} at ${path} is accepted`, async () => {
    const { key } = await service.newAccount(1_000);
    const body = JSON.stringify({ model: 'videogen-2.0', prompt: 'A lighthouse' });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'user-agent': agent };
    const answer = await service.send('POST', path, { headers, body });
    assert.equal(answer.status, status, answer.bytes.toString());
  });
}

test('the list of models is OpenAI’s at any base URL but our own, and a path of more than 500 characters is no API’s', () => {
  const meant = (path: string) => {
    const found = findMeantApi(path, 'http://media.test');
    return found && [found.shape.name, found.baseUrl];
  };
  const openAI = ['openai', 'http://media.test/v1'];
  for (const path of ['/models', '/v1/v1/models', '/v3/models/rich', '//models']) assert.deepEqual(meant(path), openAI);
  for (const path of ['/api/models', '/api/v1/models', '/api/v3/models', '/modelsx', '/v1x/videos'])
    assert.equal(meant(path), undefined, path);
  const longest = `/videos/${'x'.repeat(492)}`;
  assert.deepEqual(meant(longest), openAI);
  assert.equal(meant(`${longest}x`), undefined);
});
